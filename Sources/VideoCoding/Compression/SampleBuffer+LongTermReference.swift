public import MediaCore
import NIOCore

extension SampleBuffer {
    /// True for a keyframe that the sender keeps as a long-term reference (`long_term_reference_flag`, H.264 7.4.3.3),
    /// so that it can use it after a loss.
    public var isLongTermReference: Bool {
        guard isSync, let inspector = SliceInspector(parameterSets: format.parameterSets), inspector.isFrameOnly else {
            return false
        }
        return inspector.inspect(data.contiguous())?.isLongTermReference ?? false
    }
}

public import MediaCore
import NIOCore

extension SampleBuffer {
    /// Whether it is a keyframe that the sender keeps as a long-term reference (`long_term_reference_flag`, H.264
    /// 7.4.3.3), as a sender does that may go back to it after a loss.
    public var isLongTermReference: Bool {
        guard isSync, let inspector = SliceInspector(parameterSets: format.parameterSets), inspector.isFrameOnly else {
            return false
        }
        return inspector.inspect(data.contiguous())?.isLongTermReference ?? false
    }
}

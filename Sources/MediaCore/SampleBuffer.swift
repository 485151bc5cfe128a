/// One compressed frame (access unit) with its format and times.
public struct SampleBuffer: Sendable {
    /// The NAL units without parameter sets, each behind its length in four bytes, big endian.
    public var data: BlockBuffer
    public var format: VideoFormatDescription
    public var presentationTime: MediaTime
    /// The decoding time; nil if unknown, or if frames are shown in their order.
    public var decodeTime: MediaTime?
    /// The duration of the presentation; nil if unknown.
    public var duration: MediaTime?
    /// True if decoding can start here (an IDR picture).
    public var isSync: Bool
    /// False if the frame is decoded only because others need it, as where an edit list has cut its picture away.
    public var isShown = true
    public var dependency: FrameDependency

    public init(
        data: BlockBuffer, format: VideoFormatDescription, presentationTime: MediaTime, decodeTime: MediaTime? = nil,
        duration: MediaTime? = nil, isSync: Bool, dependency: FrameDependency = .unknown
    ) {
        self.data = data
        self.format = format
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.isSync = isSync
        self.dependency = dependency
    }
}

/// One compressed frame (access unit) with its format and times.
public struct SampleBuffer: Sendable {
    /// The NAL units without parameter sets, each behind its length in four bytes, big endian.
    public var data: BlockBuffer
    public var format: VideoFormatDescription
    public var presentationTime: MediaTime
    /// When the frame is to be decoded; nil where unknown, or where frames are shown in the order in which they come.
    public var decodeTime: MediaTime?
    /// How long the frame is shown; nil where unknown.
    public var duration: MediaTime?
    /// Whether decoding can start here (an IDR picture).
    public var isSync: Bool
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

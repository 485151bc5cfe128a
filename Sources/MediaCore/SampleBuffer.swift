public import NIOCore

/// One compressed frame (access unit) with its format and time.
public struct SampleBuffer: Sendable {
    /// The NAL units without parameter sets, each behind its length in four bytes, big endian.
    public var data: ByteBuffer
    public var format: VideoFormatDescription
    public var presentationTime: MediaTime
    /// How long the frame is shown, where known.
    public var duration: MediaTime?
    /// Whether decoding can start here (an IDR picture).
    public var isSync: Bool

    public init(
        data: ByteBuffer, format: VideoFormatDescription, presentationTime: MediaTime, duration: MediaTime? = nil,
        isSync: Bool
    ) {
        self.data = data
        self.format = format
        self.presentationTime = presentationTime
        self.duration = duration
        self.isSync = isSync
    }
}

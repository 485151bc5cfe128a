public import MediaCore

/// One frame of a video source.
public struct SourceFrame: Sendable {
    /// A picture to encode, or an encoded frame to send unchanged.
    public enum Content: Sendable {
        case picture(PixelBuffer)
        case encoded(SampleBuffer)
    }

    public var content: Content
    /// The time until the next frame is due.
    public var duration: Duration
}

/// A source of a client's video. It is endless: files start again. It serves one caller at a time.
public protocol VideoSource: AnyObject {
    /// The size of the pictures, or of the encoded frames at the start.
    var dimensions: VideoDimensions { get }
    /// Frames per second, on average.
    var frameRate: Double { get }

    /// True if frames are ready in memory, so that the next one costs nothing.
    var isImmediate: Bool { get }
    /// True if each picture shows the moment in which it is requested. Pictures of files have times of their own, as
    /// the audio of the same file does.
    var isLive: Bool { get }
    /// True if the source can follow another rate: its pictures are not encoded yet.
    var followsBitRate: Bool { get }

    /// The next frame.
    ///
    /// - Parameter wallClockMilliseconds: The wall clock's time, for sources that show it.
    /// - Throws: `ClientError.unreadableInput` when a file turns out to be broken.
    func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame

    /// Limits later frames to the size needed in this tile, for a source with encoded frames in several sizes; others
    /// do nothing.
    func fit(_ tile: VideoDimensions)

    /// Continues with a frame at which decoding can start, for a source with encoded frames; others do nothing.
    func skipToSyncFrame()
}

extension VideoSource {
    public var isImmediate: Bool { false }
    public var isLive: Bool { false }
    public var followsBitRate: Bool { true }
    public func fit(_ tile: VideoDimensions) {}
    public func skipToSyncFrame() {}
}

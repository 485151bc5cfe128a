public import Compositing
public import Conference
public import MediaCore
public import VideoCoding

/// What a simulated room composes, and how it encodes that.
public struct RoomMedia: Sendable {
    /// Makes the room's compositor. The picture at a time is asked for once for each size in use.
    public var makeCompositor: @Sendable () -> any VideoCompositing
    /// Makes an encoder for pictures of a size.
    public var makeEncoder:
        @Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding
    /// When the picture was composed whose frame this is; nil where that is not known.
    public var captureTime: @Sendable (SampleBuffer) -> MonotonicInstant?

    public init(
        makeCompositor: @escaping @Sendable () -> any VideoCompositing,
        makeEncoder:
            @escaping @Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError)
            -> any PictureEncoding,
        captureTime: @escaping @Sendable (SampleBuffer) -> MonotonicInstant?
    ) {
        self.makeCompositor = makeCompositor
        self.makeEncoder = makeEncoder
        self.captureTime = captureTime
    }

    /// Pictures on which there is nothing, and frames of which only the sizes are as of real ones.
    static func modelled(_ content: SimulatedContent, seed: UInt64) -> RoomMedia {
        RoomMedia(
            makeCompositor: { BlankCompositor() },
            makeEncoder: { (dimensions, properties) throws(VideoCodingError) in
                try ModelledEncoder(dimensions: dimensions, properties: properties, content: content, seed: seed)
            },
            captureTime: FrameStamp.time)
    }
}

/// A frame that came whole to a receiver.
public struct RoomFrame: Sendable {
    /// The receiver's place among the parameters' receivers.
    public var receiver: Int
    public var sample: SampleBuffer
    /// When its picture was composed; nil where that is not known.
    public var captureTime: MonotonicInstant?
    /// When its last packet came.
    public var arrival: MonotonicInstant
}

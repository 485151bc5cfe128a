public import Compositing
public import Conference
public import MediaCore
public import VideoCoding

/// The compositor and the encoders of a simulated room.
public struct RoomMedia: Sendable {
    /// Creates the room's compositor. For each time, it renders one picture for each size in use.
    public var makeCompositor: @Sendable () -> any VideoCompositing
    /// Creates an encoder for pictures of a size.
    public var makeEncoder:
        @Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding
    /// Returns the time at which the frame's picture was composed; nil if unknown.
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

    /// Returns blank pictures, and encoders whose frames have only realistic sizes.
    static func modelled(_ content: SimulatedContent, seed: UInt64) -> RoomMedia {
        RoomMedia(
            makeCompositor: { BlankCompositor() },
            makeEncoder: { (dimensions, properties) throws(VideoCodingError) in
                try ModelledEncoder(dimensions: dimensions, properties: properties, content: content, seed: seed)
            },
            captureTime: FrameStamp.time)
    }
}

/// A frame that a receiver received completely.
public struct RoomFrame: Sendable {
    /// The index of the receiver in the parameters.
    public var receiver: Int
    public var sample: SampleBuffer
    /// The time at which its picture was composed; nil if unknown.
    public var captureTime: MonotonicInstant?
    /// The time at which its last packet arrived.
    public var arrival: MonotonicInstant
}

/// A compositor whose pictures are blank.
final class BlankCompositor: VideoCompositing {
    let sourceAttributes = PixelBufferAttributes.any
    let destinationAttributes = PixelBufferAttributes.any

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        request.makeDestination().freeze()
    }
}

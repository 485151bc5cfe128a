package import MediaCore
package import VideoCoding

/// The format of a receiver's stream, apart from its rate: receivers of one format can share an encoder.
package struct EncodeFormat: Hashable, Sendable {
    package var dimensions: VideoDimensions
    /// All properties except the bitrates, which are the encoder's. The expected frame rate is the room's.
    package var properties: CompressionProperties
    /// True if the receiver's level does not allow the whole canvas.
    package var isSmallerThanCanvas = false
    /// True if keyframes come periodically, for receivers that cannot request them with PLI or FIR.
    package var repeatsKeyframes = false
    /// True if the frames go into files and streams: then their size stays, and a keyframe may take its time.
    package var isStored = false

    package init(
        dimensions: VideoDimensions, properties: CompressionProperties, isSmallerThanCanvas: Bool = false,
        repeatsKeyframes: Bool = false, isStored: Bool = false
    ) {
        self.dimensions = dimensions
        self.properties = properties
        self.isSmallerThanCanvas = isSmallerThanCanvas
        self.repeatsKeyframes = repeatsKeyframes
        self.isStored = isStored
    }
}

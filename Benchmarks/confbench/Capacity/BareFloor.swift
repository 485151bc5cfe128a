import Compositing
import MediaCore
import VideoCoding

/// The least that the work of a conference can cost: libavcodec decodes, libyuv scales into the tiles, and OpenH264
/// encodes, each called by hand on this thread, with the conference's own pictures, as many decoders and encoders as
/// the conference has, and none of the package's sessions.
enum BareFloor {
    /// The first frames of the clips, until rate control has settled; then those that are measured.
    private static let settling = 60
    private static let measured = 60
    /// Measured frames until the encoders, whose first are keyframes, have settled.
    private static let encoderSettling = 15

    /// - Parameters:
    ///   - tileCount: The tiles of a composed picture.
    ///   - encoderCount: The encoders that take turns at each composed picture. Of nine, each finds less of its state
    ///     in the caches than one alone.
    ///   - preset: The encoders' preset.
    static func measure(
        clips: [TestClip], tileCount: Int, encoderCount: Int, preset: EncoderPreset
    ) throws -> FloorCost {
        var cost = FloorCost()
        let decoders = try clips.map { try BareDecoder(samples: $0.samples) }
        for frame in 0..<settling + measured {
            let began = ThreadClock.now()
            for decoder in decoders { try decoder.decode(frame) }
            if frame >= settling { cost.decode.add(ThreadClock.now() - began, count: decoders.count) }
        }
        // A few clips stand for all: so many pictures would not fit into memory.
        let reels = try clips.prefix(pictureClipLimit).map { try $0.pictures() }
        let tiles = GridLayout.cells(count: tileCount, canvas: Workload.canvas)
        let scaler = BareScaler(tiles, crop: Workload.sourceDimensions, canvas: Workload.canvas)
        var properties = Workload.encoder
        properties.preset = preset
        let encoders = try (0..<encoderCount).map { _ in
            try BareEncoder(dimensions: Workload.canvas, properties: properties, qp: unusedQuantizer)
        }
        for frame in 0..<measured {
            let pictures = tiles.indices.compactMap { reels[$0 % reels.count][settling + frame] }
            let began = ThreadClock.now()
            scaler.scale(pictures)
            let scaled = ThreadClock.now()
            guard let picture = scaler.shown else { continue }
            for encoder in encoders {
                try encoder.encode(picture, milliseconds: Int64(frame * 1000 / Workload.frameRate))
            }
            let encoded = ThreadClock.now()
            cost.compose.add(scaled - began, count: 1)
            if frame >= encoderSettling { cost.encode.add(encoded - scaled, count: encoders.count) }
        }
        return cost
    }

    private static let pictureClipLimit = 9
    /// Rate control chooses its own.
    private static let unusedQuantizer = 26
}

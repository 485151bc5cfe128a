public import MediaCore
public import VideoCoding

/// The measured costs of the relay's work on this machine: processor time on one thread, for pictures of a call.
public struct Calibration: Sendable, Hashable {
    /// The size of the pictures that are composed and encoded.
    public var canvas: VideoDimensions
    public var encoder: EncoderBackEnd
    /// Seconds to decode a frame of 640x360.
    public var decode = 0.0
    public var compose = CompositionCost()
    /// Seconds to encode a composed picture, by preset.
    public var encode: [EncoderPreset: Double] = [:]
    /// Seconds to decode 20 ms of Opus.
    public var audioDecode = 0.0
    /// Seconds to encode 20 ms of Opus.
    public var audioEncode = 0.0
    /// The costs of work that a device does in place of the processor.
    public var device = DeviceCosts()

    /// The size of the decoded frames, as a camera in a call sends them.
    public static let sourceDimensions = VideoDimensions(width: 640, height: 360)

    public init(canvas: VideoDimensions, encoder: EncoderBackEnd) {
        self.canvas = canvas
        self.encoder = encoder
    }

    /// Seconds that a worker has to do with a frame of 640x360.
    public var decodeCost: Double { device.decode ?? decode }

    /// Seconds that a worker has to do with a composed picture to encode it.
    public func encodeCost(at preset: EncoderPreset) -> Double { device.encode ?? encode[preset] ?? 0 }

    /// Seconds that a worker has to do with a tick's composition.
    public func composition(sources: Int, pictures: Int) -> Double {
        (device.compose ?? compose).seconds(sources: sources, pictures: Double(pictures))
    }
}

/// The cost of composing a tick's pictures.
public struct CompositionCost: Sendable, Hashable {
    /// Seconds that each source adds to a tick, however many pictures it is in: it is scaled once.
    public var source: Double
    /// Seconds that each picture adds to a tick.
    public var picture: Double

    public init(source: Double = 0, picture: Double = 0) {
        self.source = source
        self.picture = picture
    }

    /// Seconds that a tick takes.
    ///
    /// - Parameter pictures: Their number; one of another size than the canvas counts by its size.
    public func seconds(sources: Int, pictures: Double) -> Double { Double(sources) * source + pictures * picture }
}

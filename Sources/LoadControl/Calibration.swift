public import MediaCore
public import VideoCoding

/// The measured costs of the relay's work on this machine: processor time on one thread, for pictures of a call.
public struct Calibration: Sendable, Hashable {
    /// The size of the pictures that are composed and encoded.
    public var canvas: VideoDimensions
    public var encoder: EncoderBackEnd
    /// Seconds to decode a frame of 640x360.
    public var decode = 0.0
    /// Seconds that each source adds to a tick, however many pictures it is in: it is scaled once.
    public var composeSource = 0.0
    /// Seconds that each picture adds to a tick.
    public var composePicture = 0.0
    /// Seconds to encode a composed picture, by preset.
    public var encode: [EncoderPreset: Double] = [:]
    /// Seconds to decode 20 ms of Opus.
    public var audioDecode = 0.0
    /// Seconds to encode 20 ms of Opus.
    public var audioEncode = 0.0

    /// The size of the decoded frames, as a camera in a call sends them.
    public static let sourceDimensions = VideoDimensions(width: 640, height: 360)

    public init(canvas: VideoDimensions, encoder: EncoderBackEnd) {
        self.canvas = canvas
        self.encoder = encoder
    }

    /// Seconds that a tick's composition takes.
    public func composition(sources: Int, pictures: Int) -> Double {
        Double(sources) * composeSource + Double(pictures) * composePicture
    }
}

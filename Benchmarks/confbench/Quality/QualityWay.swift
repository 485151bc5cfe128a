import MediaCore
import VideoCoding

/// A way to serve receivers on networks of different rates.
struct QualityWay: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// A few encoders for all: this project's way.
        case shared
        /// An encoder for each receiver, with its network's rate, within the processor time of `shared`: Medooze's way.
        case dedicated
        /// One encoder for all, with the rate of the slowest: Kurento's way.
        case minimum
        /// Like `dedicated`, with the ladder and unlimited processor time: the upper bound.
        case unlimited
    }

    var kind: Kind
    /// Nil for one for each.
    var maximumEncoders: Int?
    var width = Workload.canvas.width
    var height = Workload.canvas.height
    var frameRate = Workload.frameRate
    var preset = EncoderPreset.balanced.rawValue
    /// True if sizes and frame rates follow the rates.
    var hasLadder: Bool

    static func shared(encoders: Int) -> QualityWay {
        QualityWay(kind: .shared, maximumEncoders: encoders, hasLadder: true)
    }

    static let minimum = QualityWay(kind: .minimum, maximumEncoders: 1, hasLadder: false)
    static let unlimited = QualityWay(kind: .unlimited, maximumEncoders: nil, hasLadder: true)

    static func dedicated(_ dimensions: VideoDimensions, frameRate: Int = Workload.frameRate) -> QualityWay {
        QualityWay(
            kind: .dedicated, maximumEncoders: nil, width: dimensions.width, height: dimensions.height,
            frameRate: frameRate, preset: EncoderPreset.fastest.rawValue, hasLadder: false)
    }

    /// The sizes in which `dedicated` is tried.
    static let sizes = [
        Workload.canvas, VideoDimensions(width: 960, height: 540), VideoDimensions(width: 640, height: 360),
    ]

    var dimensions: VideoDimensions { VideoDimensions(width: width, height: height) }
    var encoderPreset: EncoderPreset { EncoderPreset(rawValue: preset) ?? .balanced }

    var name: String {
        let size = "\(height)p\(frameRate)"
        return kind == .dedicated ? "\(kind.rawValue) \(size)" : kind.rawValue
    }
}

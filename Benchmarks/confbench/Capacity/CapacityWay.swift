import VideoCoding

/// A way of serving everyone in a room.
enum CapacityWay: String, CaseIterable, Codable, Sendable {
    /// An encoder for each receiver, and one picture for all: the work that GStreamer does.
    case dedicated
    /// An encoder for each receiver, who do not see themselves: on top of that a picture for each.
    case dedicatedPersonal = "dedicated-personal"
    /// Encoders shared as far as pictures are the same, which without self-views nobody's are who is on the canvas.
    case personal
    /// At most four encoders, and one picture for all.
    case shared
    /// The same, but each participant sends and receives apart, as ffmpeg does, and receivers send no packet at all.
    case sharedSilent = "shared-silent"
    /// As `shared`, but each sender's rate follows the size in which it is seen.
    case priced
    /// Nobody sees themselves. A receiver whose picture would be one other camera is sent that camera's own packets: a
    /// call of two.
    case forwarding
    /// GStreamer with an encoder for each receiver.
    case gstreamerDedicated = "gstreamer-dedicated"
    /// GStreamer with one encoder for all.
    case gstreamerShared = "gstreamer-shared"

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    /// The relay's options; nil if another program is measured.
    var relayOptions: [String]? {
        switch self {
        case .dedicated: Self.dedicatedOptions + ["--self-view", "always"]
        case .dedicatedPersonal: Self.dedicatedOptions + ["--self-view", "never"]
        case .personal: ["--max-encoders", "4", "--self-view", "never", "--forwarding", "off"]
        case .shared, .sharedSilent, .priced: ["--max-encoders", "4", "--self-view", "always"]
        case .forwarding: ["--max-encoders", "4", "--self-view", "never", "--forwarding", "auto"]
        case .gstreamerDedicated, .gstreamerShared: nil
        }
    }

    private static let dedicatedOptions = [
        "--max-encoders", "dedicated", "--encoder-preset", EncoderPreset.fastest.rawValue, "--forwarding", "off",
    ]

    /// The preset of the relay's encoders, and of the floor's.
    var encoderPreset: EncoderPreset {
        switch self {
        case .dedicated, .dedicatedPersonal, .gstreamerDedicated: .fastest
        case .personal, .shared, .sharedSilent, .priced, .forwarding, .gstreamerShared: .balanced
        }
    }

    /// The tiles that a receiver sees.
    func tileCount(participants: Int) -> Int {
        switch self {
        case .dedicatedPersonal, .personal, .forwarding: participants - 1
        case .dedicated, .shared, .sharedSilent, .priced, .gstreamerDedicated, .gstreamerShared: participants
        }
    }

    /// The encoders that the floor's pictures go to: where receivers share them, all have one.
    func encoderCount(participants: Int) -> Int {
        switch self {
        case .dedicated, .dedicatedPersonal, .gstreamerDedicated: participants
        case .personal, .shared, .sharedSilent, .priced, .forwarding, .gstreamerShared: 1
        }
    }

    /// True if clients send a clip unchanged; otherwise they send the test camera in the size in which it is seen.
    var sendsClip: Bool { self != .priced }

    /// True if receivers send no packet at all, not even RTCP.
    var hasSilentReceivers: Bool { self == .sharedSilent }
}

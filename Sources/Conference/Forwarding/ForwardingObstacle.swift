/// The reason for which a receiver does not get a source's own packets.
public enum ForwardingObstacle: String, Codable, Hashable, Sendable, CaseIterable {
    /// The picture shows more than one source on all of the canvas, or moves.
    case composed
    /// No picture of the source has come, or it stays away.
    case noPicture
    /// The source's participant says that the camera is off.
    case cameraOff
    /// The source's picture has another shape than the canvas.
    case shape
    /// The picture must be rotated, and the receiver does not support that.
    case rotation
    /// The receiver decodes no such profile.
    case profile
    /// The receiver's level is below the stream's.
    case level
    /// The receiver reassembles no packets of this kind.
    case packetization
    /// The sender's packets are too large for every path.
    case packetSize
    /// The sender or the receiver does not do with keyframes when they are asked for.
    case keyframes
    /// The receiver asked for keyframes again and again.
    case manyRequests
    /// The receiver's network carries too little.
    case network

    /// The reason, as the end of a sentence.
    var words: String {
        switch self {
        case .composed: "the picture is composed"
        case .noPicture: "nothing comes from the sender"
        case .cameraOff: "the camera is off"
        case .shape: "the sender's picture differs in shape from the canvas"
        case .rotation: "the picture has to be rotated, and the receiver cannot do that"
        case .profile: "the receiver does not decode the sender's profile"
        case .level: "the sender's stream is above the receiver's level"
        case .packetization: "the receiver does not accept the sender's packetization mode"
        case .packetSize: "the sender's packets are too large"
        case .keyframes: "the sender accepts no keyframe requests, or the receiver sends none"
        case .manyRequests: "the receiver requests too many keyframes"
        case .network: "its network does not carry the sender's rate with a margin"
        }
    }
}

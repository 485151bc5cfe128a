/// A stage of a source's frame in the relay. Each stage begins where the last one ends.
public enum LatencyStage: Int, CaseIterable, Sendable {
    /// The wait for packets that are missing or out of order, from the last packet of the frame.
    case jitterBuffer
    /// The wait for the decoder and a thread to run it on.
    case decodeQueue
    case decode
    /// The wait for a tick at which a picture is composed and sent.
    case tickWait
    /// The compositor's work, with the wait for a thread to run it on.
    case compose
    /// The wait for the encoder and a thread to run it on.
    case encodeQueue
    case encode
    /// The wait for the receiver's network, until the first packet of the picture leaves.
    case pacer

    /// Its name in metrics and reports.
    public var name: String {
        switch self {
        case .jitterBuffer: "jitter_buffer"
        case .decodeQueue: "decode_queue"
        case .decode: "decode"
        case .tickWait: "tick_wait"
        case .compose: "compose"
        case .encodeQueue: "encode_queue"
        case .encode: "encode"
        case .pacer: "pacer"
        }
    }

    /// The stages that a frame passes whether or not it is shown.
    package static let uplink: [Self] = [.jitterBuffer, .decodeQueue, .decode]
}

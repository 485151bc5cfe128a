import Conference
import MediaCore

/// How the media that the relay sends to one participant does, as told once a second.
struct ParticipantStatistics: Encodable, Sendable {
    /// Whose they are.
    var participant: String
    /// What the congestion controller allows, audio included, in bit/s.
    var targetBitRate: Int64
    /// What is sent, in bit/s.
    var bitRate: Int64
    /// What the encoder was told, in bit/s.
    var videoBitRate: Int64
    /// Milliseconds; nil until feedback told it.
    var roundTripTime: Double?
    /// Fraction of packets lost, 0 to 1.
    var loss: Double
    /// Pictures encoded a second, as counted since the statistics before; nil in the first.
    var frameRate: Double?
    /// The size that is encoded.
    var width: Int
    var height: Int
    /// The congestion controller's state, in one word.
    var controllerState: String

    init(_ snapshot: ParticipantSnapshot, frameRate: Double?) {
        participant = snapshot.id
        targetBitRate = snapshot.downlink.targetBitRate
        bitRate = snapshot.downlink.bitRate
        videoBitRate = snapshot.downlink.videoBitRate
        roundTripTime = snapshot.roundTripTime
        loss = snapshot.downlink.loss
        self.frameRate = frameRate
        width = snapshot.downlink.width
        height = snapshot.downlink.height
        controllerState = snapshot.downlink.controllerState
    }
}

/// Counts pictures a second from one reading of a counter to the next.
struct FrameRateMeter {
    private var last: (count: UInt64, time: MonotonicInstant)?

    /// The rate since the reading before; nil at the first.
    mutating func read(_ count: UInt64, now: MonotonicInstant) -> Double? {
        defer { last = (count, now) }
        guard let last, now > last.time, count >= last.count else { return nil }
        let rate = Double(count - last.count) / (now - last.time).seconds
        return (rate * 10).rounded() / 10
    }
}

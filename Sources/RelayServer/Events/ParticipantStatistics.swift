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
    /// Whether the network carries too little for video, so that audio alone is sent.
    var videoPaused: Bool
    /// Milliseconds; nil until feedback told it.
    var roundTripTime: Double?
    /// Fraction of packets lost, 0 to 1.
    var loss: Double
    /// Pictures encoded a second, as counted since the statistics before; nil in the first.
    var frameRate: Double?
    /// The rung: size and pictures a second that are encoded at this rate.
    var width: Int
    var height: Int
    var maximumFrameRate: Int
    /// What keeps the picture from being better; nil when nothing does.
    var limit: DownlinkLimit?
    /// Whether everyone gets the same picture, this participant in it, where it would see the others alone.
    var sharedView: Bool
    /// The congestion controller's state, in one word.
    var controllerState: String

    init(_ snapshot: ParticipantSnapshot, progress: EncodingProgress?) {
        let downlink = snapshot.downlink
        participant = snapshot.id
        targetBitRate = downlink.targetBitRate
        bitRate = downlink.bitRate
        videoBitRate = downlink.videoBitRate
        videoPaused = downlink.videoPaused
        roundTripTime = snapshot.roundTripTime
        loss = downlink.loss
        frameRate = progress?.frameRate
        width = downlink.width
        height = downlink.height
        maximumFrameRate = downlink.maximumFrameRate
        sharedView = downlink.sharedView
        controllerState = downlink.controllerState
        // Pictures are left out for a network that falls behind, too; then that is the reason.
        let isBehind = (progress?.leftOut ?? 0) > EncodingProgress.muchLeftOut && downlink.pacerQueue == 0
        limit = downlink.limit ?? (isBehind ? .processing : nil)
    }
}

/// What became of pictures from one reading of the counters to the next.
struct EncodingProgress: Equatable {
    /// Pictures encoded a second.
    var frameRate: Double
    /// Fraction of the pictures that were left out, 0 to 1.
    var leftOut: Double

    /// More than a hiccup.
    static let muchLeftOut = 0.1
}

/// Reads the counters of a downlink's pictures.
struct EncodingMeter {
    private var last: (encoded: UInt64, dropped: UInt64, time: MonotonicInstant)?

    /// The progress since the reading before; nil at the first, and when the counters began anew.
    mutating func read(_ downlink: DownlinkSnapshot, now: MonotonicInstant) -> EncodingProgress? {
        defer { last = (downlink.framesEncoded, downlink.framesDropped, now) }
        guard let last, now > last.time, downlink.framesEncoded >= last.encoded, downlink.framesDropped >= last.dropped
        else { return nil }
        let encoded = Double(downlink.framesEncoded - last.encoded)
        let dropped = Double(downlink.framesDropped - last.dropped)
        let rate = encoded / (now - last.time).seconds
        return EncodingProgress(
            frameRate: (rate * 10).rounded() / 10, leftOut: encoded + dropped > 0 ? dropped / (encoded + dropped) : 0)
    }
}

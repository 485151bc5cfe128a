import Conference
import MediaCore

/// The statistics of the media that the relay sends to one participant, once a second.
struct ParticipantStatistics: Encodable, Sendable {
    /// The identifier of the participant.
    var participant: String
    /// The target of the congestion controller, audio included, in bit/s.
    var targetBitRate: Int64
    /// The rate of sent packets, in bit/s.
    var bitRate: Int64
    /// The target of the encoder, in bit/s.
    var videoBitRate: Int64
    /// True if the network carries too little for video, so that only audio is sent.
    var videoPaused: Bool
    /// The round-trip time in milliseconds; nil until feedback has shown it.
    var roundTripTime: Double?
    /// The fraction of lost packets, 0 to 1.
    var loss: Double
    /// Pictures encoded a second, as counted since the statistics before; nil in the first.
    var frameRate: Double?
    /// The rung: size and pictures a second that are encoded at this rate.
    var width: Int
    var height: Int
    var maximumFrameRate: Int
    /// The limit of the picture's quality; nil without one.
    var limit: DownlinkLimit?
    /// True if everyone gets the same picture, with this participant in it although it would be shown the others alone.
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

/// The fate of pictures between two readings of the counters.
struct EncodingProgress: Equatable {
    /// Pictures encoded a second.
    var frameRate: Double
    /// The fraction of the pictures that were left out, 0 to 1.
    var leftOut: Double

    /// The fraction of left-out pictures from which they matter.
    static let muchLeftOut = 0.1
}

/// Reads the counters of a downlink's pictures.
struct EncodingMeter {
    private var last: (encoded: UInt64, dropped: UInt64, time: MonotonicInstant)?

    /// Returns the progress since the last reading; nil at the first, and when the counters restarted.
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

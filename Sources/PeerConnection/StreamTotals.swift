/// Counters of a connection's video of one content. They include streams that have ended, so that they never fall when
/// an m-line is given to another stream; `packetsLost` falls when a packet comes late.
public struct VideoTotals: Hashable, Sendable {
    public var packetsReceived: UInt64 = 0
    public var packetsLost: Int64 = 0
    public var framesReceived: UInt64 = 0
    /// Frames that were not handed on because their references are missing.
    public var framesWithheld: UInt64 = 0
    public var keyframesReceived: UInt64 = 0
    public var keyframeRequestsSent: UInt64 = 0
    /// Pictures with which decoding continued after a loss although they were no keyframes.
    public var recoveryPointsUsed: UInt64 = 0
    /// Packets requested again.
    public var nacksSent: UInt64 = 0
    /// Packets in a retransmission stream of their own (RFC 4588); repetitions in the media's stream are not
    /// distinguished.
    public var retransmissionsReceived: UInt64 = 0
    /// Packets of forward error correction, unreadable ones included.
    public var fecPacketsReceived: UInt64 = 0
    public var fecPacketsMalformed: UInt64 = 0
    /// Lost packets that forward error correction recovered.
    public var packetsRecovered: UInt64 = 0
    /// Keyframes that the remote side requested of the video that is sent.
    public var keyframeRequestsReceived: UInt64 = 0

    static func += (left: inout VideoTotals, right: VideoTotals) {
        left.packetsReceived &+= right.packetsReceived
        left.packetsLost &+= right.packetsLost
        left.framesReceived &+= right.framesReceived
        left.framesWithheld &+= right.framesWithheld
        left.keyframesReceived &+= right.keyframesReceived
        left.keyframeRequestsSent &+= right.keyframeRequestsSent
        left.recoveryPointsUsed &+= right.recoveryPointsUsed
        left.nacksSent &+= right.nacksSent
        left.retransmissionsReceived &+= right.retransmissionsReceived
        left.fecPacketsReceived &+= right.fecPacketsReceived
        left.fecPacketsMalformed &+= right.fecPacketsMalformed
        left.packetsRecovered &+= right.packetsRecovered
        left.keyframeRequestsReceived &+= right.keyframeRequestsReceived
    }
}

/// Counters of a connection's audio, those of streams that have ended included.
public struct AudioTotals: Hashable, Sendable {
    public var packetsReceived: UInt64 = 0
    /// Payloads taken from later packets (RED), because their own packets had not come.
    public var repetitionsUsed: UInt64 = 0
    /// Packets sent that repeat earlier ones (RED).
    public var redPacketsSent: UInt64 = 0

    static func += (left: inout AudioTotals, right: AudioTotals) {
        left.packetsReceived &+= right.packetsReceived
        left.repetitionsUsed &+= right.repetitionsUsed
        left.redPacketsSent &+= right.redPacketsSent
    }
}

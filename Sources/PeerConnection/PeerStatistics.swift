import CongestionControl
public import MediaCore
package import RTP
package import SDP

/// Counters of one connection, since it began.
public struct PeerCounters: Sendable {
    public var packetsReceived: UInt64 = 0
    public var packetsSent: UInt64 = 0
    public var malformedPackets: UInt64 = 0
    public var replayedPackets: UInt64 = 0
    public var unauthenticatedPackets: UInt64 = 0
    public var protectFailures: UInt64 = 0
    public var retransmissions: UInt64 = 0
    public var nacksReceived: UInt64 = 0
    public var transportFeedbackReceived: UInt64 = 0
    /// Packets of forward error correction.
    public var flexFECPacketsSent: UInt64 = 0
}

/// A connection's state at one moment.
public struct PeerStatistics: Sendable {
    public var counters: PeerCounters
    public var roundTripTime: Duration?
    public var receiveBitRate: BitRate
    public var sendBitRate: BitRate
    /// The controller's rate over several frames, all media with their headers.
    public var targetBitRate: BitRate
    /// True if the path carries too little for video, so that only audio is sent.
    public var isVideoPaused: Bool
    /// The last reported rate of the video encoder.
    public var videoBitRate: BitRate
    public var latency: LatencyLedger
    public var pacerQueue: DataSize
    public var pacerDelay: Duration
    public var controllerState: String

    /// The loss of our main video, as its receiver reports it.
    public var videoFractionLost: Double
    public var audioFractionLost: Double
    /// Counters of the main video, both directions.
    public var video: VideoTotals
    public var audio: AudioTotals
    /// The repair that our streams are given.
    public var repair: LossRepair
    /// The repair packets for each packet of video.
    public var protectionRate: Double
}

extension PeerConnection {
    /// Round-trip time, from transport-wide feedback or from reports; `nil` before either.
    public var roundTripTime: Duration? {
        if let roundTripTime = sending.roundTripTime { return roundTripTime }
        for line in lines {
            if let roundTripTime = line.sendStatistics?.roundTripTime { return roundTripTime }
        }
        return nil
    }

    /// The fraction of our audio packets that the remote side last reported lost.
    public var audioFractionLost: Double { lines.audioFractionLost }

    /// When received audio of an RTP timestamp was captured, on the sender's wall clock; nil before the first sender
    /// report.
    package func audioSenderTime(of timestamp: UInt32, content: NegotiatedMedia.Content) -> NTPTime? {
        lines.audio(content)?.audioReceiver?.reception.ntpTime(atTimestamp: timestamp)
    }

    /// The fraction of our video packets that the remote side last reported lost.
    package var videoFractionLost: Double { lines.videoFractionLost }

    /// The time that forwarded packets took through the relay.
    package var forwardingLatency: LatencyHistogram { sending.forwardingLatency }

    /// Explains the present repair in a sentence or two; nil without repair.
    package func repairExplanation(now: MonotonicInstant) -> String? { repair.explanation(on: lines, now: now) }

    private var counters: PeerCounters {
        let sent = sending.counters
        return PeerCounters(
            packetsReceived: router.packetsReceived, packetsSent: sent.packets, malformedPackets: router.malformed,
            replayedPackets: router.replayed, unauthenticatedPackets: router.unauthenticated,
            protectFailures: sent.protectFailures + control.protectFailures, retransmissions: sent.retransmissions,
            nacksReceived: sent.nacks,
            transportFeedbackReceived: sent.transportFeedback, flexFECPacketsSent: sent.flexFECPackets)
    }

    public func statistics(now: MonotonicInstant) -> PeerStatistics {
        return PeerStatistics(
            counters: counters, roundTripTime: roundTripTime, receiveBitRate: feedback.receiveRate(now: now),
            sendBitRate: sending.sendRate(now: now) + control.sendRate(now: now),
            targetBitRate: sending.decision.averageBitRate, isVideoPaused: isVideoPaused,
            videoBitRate: sending.rates.allocated.video, latency: sending.latency, pacerQueue: sending.queuedSize,
            pacerDelay: sending.queueDelay(now: now),
            controllerState: sending.controllerSnapshot.networkState.rawValue,
            videoFractionLost: videoFractionLost, audioFractionLost: audioFractionLost,
            video: lines.videoTotals(.main), audio: lines.audioTotals,
            repair: repair.inUse(on: lines, now: now), protectionRate: repair.protectionRate(of: lines))
    }
}

extension PeerConnection {
    /// The counters of the video of a content, both directions.
    package func videoTotals(_ content: NegotiatedMedia.Content) -> VideoTotals { lines.videoTotals(content) }
}

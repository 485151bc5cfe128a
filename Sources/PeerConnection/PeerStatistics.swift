import CongestionControl
public import MediaCore
import RTP
package import SDP
package import SecureTransport

/// Counters of one connection, since it began.
public struct PeerCounters: Sendable {
    public var packetsReceived: UInt64 = 0
    public var packetsSent: UInt64 = 0
    public var malformedPackets: UInt64 = 0
    public var replayedPackets: UInt64 = 0
    public var unauthenticatedPackets: UInt64 = 0
    public var protectFailures: UInt64 = 0
    public var retransmissions: UInt64 = 0
    public var negativeAcknowledgementsReceived: UInt64 = 0
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
    public var framesSent: UInt64
    public var keyframesSent: UInt64
    public var keyframeRequestsReceived: UInt64

    /// The number of received packets of the main video.
    public var videoPacketsReceived: UInt64
    public var videoPacketsLost: Int64
    public var framesReceived: UInt64
    /// Frames that were not handed on because their references are missing.
    public var framesWithheld: UInt64
    public var keyframesReceived: UInt64
    public var keyframeRequestsSent: UInt64
    /// Pictures with which it went on after a loss although they were no keyframes.
    public var recoveryPointsUsed: UInt64
    public var negativeAcknowledgementsSent: UInt64
    /// Packets in a retransmission stream of their own (RFC 4588); repetitions in the media's stream are not
    /// distinguished.
    public var retransmissionsReceived: UInt64
    /// Packets of forward error correction, unreadable ones included.
    public var flexFECPacketsReceived: UInt64
    public var flexFECPacketsMalformed: UInt64
    /// Lost packets that forward error correction recovered.
    public var packetsRecovered: UInt64
    public var audioPacketsReceived: UInt64
    /// Audio payloads that were taken from later packets (RED), since their own packets had not come.
    public var audioRepetitionsUsed: UInt64

    /// Audio packets sent that repeat earlier ones.
    public var redundantAudioPacketsSent: UInt64
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
            negativeAcknowledgementsReceived: sent.negativeAcknowledgements,
            transportFeedbackReceived: sent.transportFeedback, flexFECPacketsSent: sent.flexFECPackets)
    }

    public func statistics(now: MonotonicInstant) -> PeerStatistics {
        let sender = lines.mainVideo?.videoSender
        let receiver = lines.mainVideo?.videoReceiver
        return PeerStatistics(
            counters: counters, roundTripTime: roundTripTime, receiveBitRate: feedback.receiveRate(now: now),
            sendBitRate: sending.sendRate(now: now) + control.sendRate(now: now),
            targetBitRate: sending.decision.averageBitRate, isVideoPaused: isVideoPaused,
            videoBitRate: sending.rates.allocated.video, latency: sending.latency, pacerQueue: sending.queuedSize,
            pacerDelay: sending.queueDelay(now: now),
            controllerState: sending.controllerSnapshot.networkState.rawValue,
            videoFractionLost: videoFractionLost, audioFractionLost: audioFractionLost,
            framesSent: sender?.framesSent ?? 0, keyframesSent: sender?.keyframesSent ?? 0,
            keyframeRequestsReceived: sender?.keyframeRequests ?? 0,
            videoPacketsReceived: receiver?.packetsReceived ?? 0,
            videoPacketsLost: receiver.map { Int64($0.reception.cumulativeLost) } ?? 0,
            framesReceived: receiver?.framesReceived ?? 0, framesWithheld: receiver?.framesWithheld ?? 0,
            keyframesReceived: receiver?.keyframesReceived ?? 0,
            keyframeRequestsSent: receiver?.keyframes.requestCount ?? 0,
            recoveryPointsUsed: receiver?.recoveryPointsUsed ?? 0,
            negativeAcknowledgementsSent: receiver?.nacksSent ?? 0,
            retransmissionsReceived: receiver?.retransmissionsReceived ?? 0,
            flexFECPacketsReceived: receiver?.recovery.received ?? 0,
            flexFECPacketsMalformed: receiver?.recovery.malformed ?? 0,
            packetsRecovered: receiver?.recovery.recovered ?? 0,
            audioPacketsReceived: lines.audio?.audioReceiver?.packetsReceived ?? 0,
            audioRepetitionsUsed: lines.audio?.audioReceiver?.repeatedPayloadsUsed ?? 0,
            redundantAudioPacketsSent: lines.audio?.audioSender?.redundantPacketsSent ?? 0,
            repair: repair.inUse(on: lines, now: now), protectionRate: repair.protectionRate(of: lines))
    }
}

/// Counters of a video stream that is received.
package struct VideoReception {
    package var framesReceived: UInt64
    /// Frames that were not handed on because their references are missing.
    package var framesWithheld: UInt64
    package var packetsLost: UInt64
    package var keyframes: UInt64
    /// Keyframes that the sender was asked for.
    package var keyframeRequests: UInt64
}

extension PeerConnection {
    /// The statistics of a received stream; nil without one.
    package func videoReception(_ content: NegotiatedMedia.Content) -> VideoReception? {
        lines.video(content)?.videoReceiver.map { receiver in
            VideoReception(
                framesReceived: receiver.framesReceived, framesWithheld: receiver.framesWithheld,
                packetsLost: UInt64(clamping: receiver.reception.cumulativeLost), keyframes: receiver.keyframesReceived,
                keyframeRequests: receiver.keyframes.requestCount)
        }
    }

    /// Keyframes of the main video that the remote side has asked for.
    package var keyframeRequestsReceived: UInt64 { lines.mainVideo?.videoSender?.keyframeRequests ?? 0 }
}

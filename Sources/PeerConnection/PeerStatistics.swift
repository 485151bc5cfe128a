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

    mutating func count(_ error: SRTPError) {
        if case .replayed = error { replayedPackets &+= 1 } else { unauthenticatedPackets &+= 1 }
    }
}

/// A connection's state at one moment.
public struct PeerStatistics: Sendable {
    public var counters: PeerCounters
    public var roundTripTime: Duration?
    public var receiveBitRate: BitRate
    public var sendBitRate: BitRate
    /// What the controller allows over several frames, all media with their headers.
    public var targetBitRate: BitRate
    /// Whether the path carries too little for video, so that audio alone is sent.
    public var isVideoPaused: Bool
    /// What the video encoder was last told.
    public var videoBitRate: BitRate
    public var latency: LatencyLedger
    public var pacerQueue: DataSize
    public var pacerDelay: Duration
    public var controllerState: String

    /// Of the main video we send, as its receiver reports it.
    public var videoFractionLost: Double
    public var audioFractionLost: Double
    public var framesSent: UInt64
    public var keyframesSent: UInt64
    public var keyframeRequestsReceived: UInt64

    /// Of the main video we receive.
    public var videoPacketsReceived: UInt64
    public var videoPacketsLost: Int64
    public var framesReceived: UInt64
    /// Frames not handed on because what they refer to is missing.
    public var framesWithheld: UInt64
    public var keyframesReceived: UInt64
    public var keyframeRequestsSent: UInt64
    /// Pictures with which it went on after a loss although they were no keyframes.
    public var recoveryPointsUsed: UInt64
    public var negativeAcknowledgementsSent: UInt64
    /// In a stream of their own (RFC 4588); repetitions in the media's stream are not told apart.
    public var retransmissionsReceived: UInt64
    /// Packets of forward error correction, those that could not be read included.
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
        if let roundTripTime = feedbackAdapter.roundTripTime { return roundTripTime }
        for line in lines.indices {
            let statistics = lines[line].videoSender?.statistics ?? lines[line].audioSender?.statistics
            if let roundTripTime = statistics?.roundTripTime { return roundTripTime }
        }
        return nil
    }

    /// The fraction of our audio packets that the remote side last reported lost.
    public var audioFractionLost: Double {
        audioLine.flatMap { lines[$0].audioSender?.statistics.fractionLost } ?? 0
    }

    /// The fraction of our video packets that the remote side last reported lost.
    package var videoFractionLost: Double {
        lines.reduce(0) { max($0, $1.videoSender?.statistics.fractionLost ?? 0) }
    }

    public func statistics(now: MonotonicInstant) -> PeerStatistics {
        let sender = videoLine.flatMap { lines[$0].videoSender }
        let receiver = videoLine.flatMap { lines[$0].videoReceiver }
        return PeerStatistics(
            counters: counters, roundTripTime: roundTripTime, receiveBitRate: receiveMeter.rate(now: now),
            sendBitRate: sendMeter.rate(now: now), targetBitRate: decision.averageBitRate,
            isVideoPaused: isVideoPaused, videoBitRate: allocated.video, latency: latency, pacerQueue: pacer.queuedSize,
            pacerDelay: pacer.queueDelay(now: now), controllerState: controller.snapshot.networkState.rawValue,
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
            audioPacketsReceived: audioLine.flatMap { lines[$0].audioReceiver?.packetsReceived } ?? 0,
            audioRepetitionsUsed: audioLine.flatMap { lines[$0].audioReceiver?.repeatedPayloadsUsed } ?? 0,
            redundantAudioPacketsSent: audioLine.flatMap { lines[$0].audioSender?.redundantPacketsSent } ?? 0,
            repair: repair(now: now), protectionRate: protectionOverhead > 0 ? protection.protection.rate : 0)
    }
}

/// What has become so far of a video stream that is received.
package struct VideoReception {
    package var framesReceived: UInt64
    /// Frames not handed on because what they refer to is missing.
    package var framesWithheld: UInt64
    package var packetsLost: UInt64
    package var keyframes: UInt64
    /// Keyframes that the sender was asked for.
    package var keyframeRequests: UInt64
}

extension PeerConnection {
    /// Of a stream that is received; nil where there is none.
    package func videoReception(_ content: NegotiatedMedia.Content) -> VideoReception? {
        line(content).flatMap { lines[$0].videoReceiver }.map { receiver in
            VideoReception(
                framesReceived: receiver.framesReceived, framesWithheld: receiver.framesWithheld,
                packetsLost: UInt64(clamping: receiver.reception.cumulativeLost), keyframes: receiver.keyframesReceived,
                keyframeRequests: receiver.keyframes.requestCount)
        }
    }

    /// Keyframes of the main video that the remote side has asked for.
    package var keyframeRequestsReceived: UInt64 {
        videoLine.flatMap { lines[$0].videoSender?.keyframeRequests } ?? 0
    }
}

public import MediaCore
import RTP
import RateControl
import SecureTransport

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
    /// What the video encoder was last told.
    public var videoBitRate: BitRate
    public var pacing: LatencyHistogram
    public var pacerQueue: DataSize
    public var pacerDelay: Duration
    public var controllerState: String

    /// Of the video we send, as its receiver reports it.
    public var videoFractionLost: Double
    public var audioFractionLost: Double
    public var framesSent: UInt64
    public var keyFramesSent: UInt64
    public var keyFrameRequestsReceived: UInt64

    /// Of the video we receive.
    public var videoPacketsReceived: UInt64
    public var videoPacketsLost: Int64
    public var framesReceived: UInt64
    /// Frames not handed on because what they refer to is missing.
    public var framesWithheld: UInt64
    public var keyFramesReceived: UInt64
    public var keyFrameRequestsSent: UInt64
    public var negativeAcknowledgementsSent: UInt64
    public var audioPacketsReceived: UInt64
}

extension PeerConnection {
    /// Round-trip time, from transport-wide feedback or from reports; `nil` before either.
    public var roundTripTime: Duration? {
        feedbackAdapter.roundTripTime ?? videoSender?.statistics.roundTripTime
            ?? audioSender?.statistics.roundTripTime
    }

    /// The fraction of our audio packets that the remote side last reported lost.
    public var audioFractionLost: Double { audioSender?.statistics.fractionLost ?? 0 }

    public func statistics(now: MonotonicInstant) -> PeerStatistics {
        PeerStatistics(
            counters: counters, roundTripTime: roundTripTime, receiveBitRate: receiveMeter.rate(now: now),
            sendBitRate: sendMeter.rate(now: now), targetBitRate: decision.averageBitRate,
            videoBitRate: allocated.video, pacing: pacing, pacerQueue: pacer.queuedSize,
            pacerDelay: pacer.queueDelay(now: now), controllerState: controller.snapshot.networkState.rawValue,
            videoFractionLost: videoSender?.statistics.fractionLost ?? 0,
            audioFractionLost: audioFractionLost,
            framesSent: videoSender?.framesSent ?? 0, keyFramesSent: videoSender?.keyFramesSent ?? 0,
            keyFrameRequestsReceived: videoSender?.keyFrameRequests ?? 0,
            videoPacketsReceived: videoReceiver?.packetsReceived ?? 0,
            videoPacketsLost: videoReceiver.map { Int64($0.reception.cumulativeLost) } ?? 0,
            framesReceived: videoReceiver?.framesReceived ?? 0, framesWithheld: videoReceiver?.framesWithheld ?? 0,
            keyFramesReceived: videoReceiver?.keyFramesReceived ?? 0,
            keyFrameRequestsSent: videoReceiver?.keyFrames.requestCount ?? 0,
            negativeAcknowledgementsSent: videoReceiver?.nacksSent ?? 0,
            audioPacketsReceived: audioReceiver?.packetsReceived ?? 0)
    }
}

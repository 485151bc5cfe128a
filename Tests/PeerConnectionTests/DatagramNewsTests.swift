import CongestionControl
import MediaCore
import RTP
import ResearchControllers
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// The number of decisions that one datagram makes a controller take.
@Suite struct DatagramNewsTests {
    @Test("a datagram full of repeated reports, estimates and requests makes the controller decide once")
    func repeatedReports() throws {
        let counts = CallCounts()
        let path = try KeyedPath(controller: CountingController(counts: counts))
        try path.run(for: .milliseconds(500))
        let block = ReportBlock(ssrc: path.sentSSRC, fractionLost: 10)
        let own = path.media.localSSRC
        var packets: [RTCPPacket] = []
        for index in 0..<50 {
            packets.append(.receiverReport(ReceiverReport(ssrc: own, reports: Array(repeating: block, count: 31))))
            packets.append(
                .receiverEstimatedMaximumBitrate(
                    REMB(senderSSRC: own, bitRate: .kilobits(Double(100 + index)), ssrcs: [path.sentSSRC])))
            packets.append(
                .maximumBitRateRequest(
                    BitRateLimits(
                        senderSSRC: own,
                        limits: [
                            BitRateLimit(
                                ssrc: path.sentSSRC, maximum: .kilobits(400), overhead: DataSize(bytes: 40))
                        ])))
        }
        counts.reset()
        try path.say(packets)
        #expect(counts.advances == 1)
        #expect(counts.reports == 1)
        #expect(counts.estimates == [.kilobits(149)])
    }

    @Test("each stream's last report in a datagram counts")
    func lastReport() throws {
        let counts = CallCounts()
        let path = try KeyedPath(controller: CountingController(counts: counts))
        try path.run(for: .milliseconds(500))
        let blocks = [64, 128].map { ReportBlock(ssrc: path.sentSSRC, fractionLost: $0) }
        try path.say([.receiverReport(ReceiverReport(ssrc: path.media.localSSRC, reports: blocks))])
        #expect(counts.lastFractionLost == 0.5)
    }

    @Test("a controller that is always due lets time go on")
    func alwaysDue() throws {
        let path = try KeyedPath(controller: CountingController(counts: CallCounts(), isAlwaysDue: true))
        for time in [path.now, path.now + .milliseconds(1)] {
            path.peer.wake(now: time)
            #expect(path.peer.nextWakeUp(now: time) > time)
        }
    }
}

/// The calls that a controller got.
private final class CallCounts: @unchecked Sendable {
    // A test calls its one controller from one thread.
    var advances = 0
    var reports = 0
    var estimates: [BitRate] = []
    var lastFractionLost: Double?

    func reset() {
        advances = 0
        reports = 0
        estimates = []
    }
}

/// Sends at one rate and counts its calls.
private struct CountingController: CongestionController {
    let counts: CallCounts
    let isAlwaysDue: Bool
    private var fixed = FixedRateController(rate: .kilobits(300))

    init(counts: CallCounts, isAlwaysDue: Bool = false) {
        self.counts = counts
        self.isAlwaysDue = isAlwaysDue
    }

    mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {}
    mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {}
    mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}
    mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {}

    mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        counts.estimates.append(estimate)
    }

    mutating func receiverReportReceived(fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant) {
        counts.reports += 1
        counts.lastFractionLost = fractionLost
    }

    mutating func advance(now: MonotonicInstant) -> ControlDecision {
        counts.advances += 1
        var decision = fixed.advance(now: now)
        if isAlwaysDue { decision.nextWakeUp = now }
        return decision
    }

    var snapshot: ControllerSnapshot { fixed.snapshot }
}

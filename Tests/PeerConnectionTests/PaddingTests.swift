import CongestionControl
import MediaCore
import ResearchControllers
import SDP
import Testing

@testable import PeerConnection

/// Padding, which goes by the newest picture.
@Suite struct PaddingTests {
    @Test("a connection that sends video no longer rests, although its controller wants padding")
    func withoutVideo() throws {
        let path = try KeyedPath(controller: PaddingController())
        try path.run(for: .milliseconds(200))
        var session = path.peer.session
        for index in session.media.indices { session.media[index].direction = .inactive }
        try path.peer.update(session: session, now: path.now)
        try path.run(for: .milliseconds(500))
        path.peer.wake(now: path.now)
        while path.peer.pollTransmit(now: path.now) != nil {}
        #expect(path.peer.nextWakeUp(now: path.now) > path.now)
    }
}

/// Sends at one rate, and wants as much padding.
private struct PaddingController: CongestionController {
    private var fixed = FixedRateController(rate: .kilobits(300))

    mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {}
    mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {}
    mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {}
    mutating func receiverReportReceived(fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant) {}
    mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}
    mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {}

    mutating func advance(now: MonotonicInstant) -> ControlDecision {
        var decision = fixed.advance(now: now)
        decision.paddingRate = .kilobits(300)
        return decision
    }

    var snapshot: ControllerSnapshot { fixed.snapshot }
}

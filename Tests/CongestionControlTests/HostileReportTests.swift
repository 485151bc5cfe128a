import MediaCore
import RTP
import ResearchControllers
import Testing

@testable import CongestionControl

/// Reports of RFC 8888 from a receiver that lies, on their way through the adapter into each controller.
@Suite("Hostile reports")
struct HostileReportTests {
    enum Controller: String, CaseIterable {
        case confrelay, google, scream, nada

        func make(limits: RateLimits) -> any CongestionController {
            switch self {
            case .confrelay: ConfrelayCongestionController(limits: limits, now: .zero)
            case .google: GoogleCongestionController(limits: limits, now: .zero)
            case .scream: ScreamCongestionController(limits: limits, now: .zero)
            case .nada: NADACongestionController(limits: limits)
            }
        }
    }

    private static let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(500), maximum: .megabits(2))

    @Test(
        "impossible reports do not stop a controller, and honest ones after them count",
        arguments: Controller.allCases)
    func hostileReports(controller choice: Controller) throws {
        var random = SeededGenerator(seed: 8)
        var controller = choice.make(limits: Self.limits)
        var adapter = TransportFeedbackAdapter()
        var now = MonotonicInstant.zero
        var newest: UInt16 = 0
        for round in 0..<40_000 {
            now += .milliseconds(2)
            let (sequence, packet) = adapter.packetSent(size: .packet, probeClusterID: nil, now: now)
            newest = sequence
            controller.packetSent(packet, now: now)
            let isHostile = round < 20_000
            if isHostile || round % 5 == 0 {
                let report = isHostile ? hostileReport(near: newest, &random) : honestReport(upTo: newest, now: now)
                if let matched = adapter.handle(report, now: now, transportSequence: { $1 }) {
                    controller.feedbackReceived(matched, now: now)
                }
            }
            let decision = controller.advance(now: now)
            #expect(Self.limits.range.contains(decision.targetBitRate))
            _ = (controller.snapshot, controller.predictedQueue)
        }
        let roundTripTime = try #require(adapter.roundTripTime)
        #expect(roundTripTime >= .zero && roundTripTime < .milliseconds(50))
    }

    private func hostileReport(near newest: UInt16, _ random: inout SeededGenerator) -> CongestionControlFeedback {
        let count = UInt16.random(in: 0...40, using: &random)
        let timestamps: [UInt32] = [0, 0x7FFF_FFFF, 0x8000_0000, .max, .random(in: 0 ... .max, using: &random)]
        let packets = (0..<count).map { _ -> CongestionControlFeedback.PacketArrival? in
            guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
            return .init(
                ecn: [.notCapable, .capable0, .capable1, .congestionExperienced].randomElement(using: &random)
                    ?? .notCapable, arrivalTimeOffset: .random(in: 0 ... .max, using: &random))
        }
        return CongestionControlFeedback(
            senderSSRC: 1,
            streams: [.init(ssrc: 2, beginSequence: newest &- .random(in: 0...60, using: &random), packets: packets)],
            reportTimestamp: timestamps.randomElement(using: &random) ?? 0)
    }

    /// A report that the packets of the last 20 ms arrived 5 ms after they were sent.
    private func honestReport(upTo newest: UInt16, now: MonotonicInstant) -> CongestionControlFeedback {
        let packets = (0..<10).map { index in
            CongestionControlFeedback.PacketArrival(ecn: .notCapable, age: .milliseconds(max(0, 2 * (9 - index) - 5)))
        }
        return CongestionControlFeedback(
            senderSSRC: 1, streams: [.init(ssrc: 2, beginSequence: newest &- 9, packets: packets)],
            reportTimestamp: CongestionFeedbackRecorder.timestamp(now))
    }
}

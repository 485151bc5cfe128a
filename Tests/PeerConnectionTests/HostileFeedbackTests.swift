import CongestionControl
import MediaCore
import RTP
import ResearchControllers
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// A member that has the keys and lies about what arrives may spoil its own stream, for as long as it lies.
@Suite struct HostileFeedbackTests {
    /// The controllers, by name.
    enum Controller: String, CaseIterable, CustomTestStringConvertible {
        case confrelay, google, scream, nada, fixed

        var testDescription: String { rawValue }

        var value: any CongestionController {
            let start = MonotonicInstant(nanoseconds: 1_000_000_000)
            let limits = KeyedPath.limits
            return switch self {
            case .confrelay: ConfrelayCongestionController(limits: limits, now: start)
            case .google: GoogleCongestionController(limits: limits, now: start)
            case .scream: ScreamCongestionController(limits: limits, now: start)
            case .nada: NADACongestionController(limits: limits)
            case .fixed: FixedRateController(rate: limits.start)
            }
        }
    }

    @Test("empty feedback whose clock jumps changes nothing", arguments: Controller.allCases)
    func emptyFeedback(controller: Controller) throws {
        let path = try KeyedPath(controller: controller.value)
        try path.run(for: .seconds(1))
        path.reports = false
        try path.run(for: .milliseconds(100))
        let before = (path.peer.roundTripTime, path.peer.sending.decision.targetBitRate)
        var hostile = HostileFeedback(seed: 1, sentSSRC: path.sentSSRC, ownSSRC: path.media.localSSRC)
        for _ in 0..<18_000 { try path.say([.transportFeedback(hostile.emptyFeedback())]) }
        #expect(path.peer.roundTripTime == before.0)
        #expect(path.peer.sending.decision.targetBitRate == before.1)
        path.reports = true
        try path.run(for: .milliseconds(200))
        try expectSound(path, controller)
        try path.run(for: .seconds(10))
        try expectRecovered(path, controller)
    }

    @Test(
        "RTCP with impossible values, between honest reports, ends no session, and an honest stream recovers after it",
        arguments: Controller.allCases, [1, 2] as [UInt64])
    func mixedFeedback(controller: Controller, seed: UInt64) throws {
        let path = try KeyedPath(controller: controller.value)
        try path.run(for: .seconds(1))
        var hostile = HostileFeedback(seed: seed, sentSSRC: path.sentSSRC, ownSSRC: path.media.localSSRC)
        for round in 0..<3000 {
            if round.isMultiple(of: 100) { path.reports.toggle() }
            try path.say(hostile.next(near: path.newestSequence))
            if round.isMultiple(of: 2) { try path.run(for: .milliseconds(6)) }
            if round.isMultiple(of: 50) { try expectSound(path, controller) }
        }
        path.reports = true
        try path.run(for: .seconds(45))
        try expectRecovered(path, controller)
    }

    @Test("a datagram may request 2048 packets, and further ones are not looked for", arguments: [1, 3])
    func manyRequests(lists: UInt16) throws {
        let path = try KeyedPath(controller: Controller.fixed.value)
        try path.run(for: .seconds(1))
        let (length, newest) = (6000 / lists, path.newestSequence)
        let before = path.peer.sending.counters.nacks
        try path.say(
            (0..<lists).map { list in
                let numbers = (0..<length).map { newest &- 6000 &+ list * length &+ $0 }
                return .genericNACK(
                    GenericNACK(
                        senderSSRC: path.media.localSSRC, mediaSSRC: path.sentSSRC, sequenceNumbers: numbers))
            })
        #expect(path.peer.sending.counters.nacks - before == 2048)
    }

    @Test("requests for far more packets than a path loses are not looked for, and a few are again soon afterwards")
    func requestStorm() throws {
        let path = try KeyedPath(controller: Controller.fixed.value)
        try path.run(for: .seconds(1))
        func request(_ count: UInt16) throws -> UInt64 {
            let before = path.peer.sending.counters.nacks
            let numbers = (0..<count).map { path.newestSequence &- count &+ $0 }
            let nack = GenericNACK(
                senderSSRC: path.media.localSSRC, mediaSSRC: path.sentSSRC, sequenceNumbers: numbers)
            try path.say([.genericNACK(nack)])
            return path.peer.sending.counters.nacks - before
        }
        let answered = try (0..<500).reduce(UInt64(0)) { sum, _ in
            try path.run(for: .milliseconds(2))
            return try sum + request(2000)
        }
        #expect((8000...30_000).contains(answered), "\(answered)")
        try path.run(for: .milliseconds(100))
        #expect(try request(1000) == 1000)
    }

    /// Expects the connection's decisions and statistics to be within their bounds.
    private func expectSound(_ path: KeyedPath, _ controller: Controller) throws {
        let decision = path.peer.sending.decision
        #expect(KeyedPath.limits.range.contains(decision.targetBitRate))
        #expect(decision.pacingRate < .megabits(1000))
        if let window = decision.congestionWindow { #expect(window > .zero) }
        let statistics = path.peer.statistics(now: path.now)
        if let roundTripTime = statistics.roundTripTime {
            #expect(roundTripTime >= .zero && roundTripTime < .seconds(31), "\(roundTripTime)")
        }
        _ = path.peer.controllerSnapshot
    }

    /// Expects the stream to continue as on a path that carries everything.
    private func expectRecovered(_ path: KeyedPath, _ controller: Controller) throws {
        try expectSound(path, controller)
        let roundTripTime = try #require(path.peer.roundTripTime)
        #expect(roundTripTime >= .milliseconds(30) && roundTripTime <= .milliseconds(150), "\(roundTripTime)")
        #expect(
            path.peer.sending.decision.targetBitRate >= KeyedPath.limits.start,
            "\(path.peer.sending.decision.targetBitRate)")
    }
}

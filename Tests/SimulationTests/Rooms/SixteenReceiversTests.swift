import Foundation
import MediaCore
import Testing

@testable import Simulation

/// Receivers on as many networks and few encoders, against an encoder for each.
@Suite struct SixteenReceiversTests {
    private static func parameters(
        count: Int, encoders: Int?, duration: Duration, warmUp: Duration = .seconds(5)
    ) -> RoomSimulationParameters {
        var parameters = RoomSimulationParameters(
            receivers: RoomSimulationParameters.generatedReceivers(count: count, duration: duration, seed: 1),
            duration: duration, maximumEncoders: encoders)
        parameters.warmUp = warmUp
        return parameters
    }

    private static func figures(_ comparison: RoomComparison) -> String {
        zip(comparison.shared.receivers, zip(comparison.dedicated.receivers, comparison.shares)).map {
            shared, other in
            "\(shared.name) \(Int(shared.bitRate / 1000)) of \(Int(other.0.bitRate / 1000)) kbit/s, "
                + "\(Int(other.1 * 100)) %, p95 \(Int(shared.delay95)) and \(Int(other.0.delay95)) ms"
        }.joined(separator: "\n")
    }

    @Test(
        "each of sixteen gets from four encoders nearly the quality of an own encoder; keyframes take a twentieth",
        .enabled(if: LongTests.areWanted, "minutes in a debug build"))
    func sixteen() throws {
        let duration = Duration.seconds(30)
        let comparison = RoomComparison(
            shared: try RoomSimulation(Self.parameters(count: 16, encoders: 4, duration: duration)).run(),
            dedicated: try RoomSimulation(Self.parameters(count: 16, encoders: nil, duration: duration)).run())
        let shares = comparison.shares
        #expect(comparison.shared.mostEncoders <= 4)
        #expect(comparison.dedicated.mostEncoders == 16)
        #expect(comparison.shared.keyframeShare <= 0.05, "\(comparison.shared.keyframeShare)")
        #expect(shares.reduce(0, +) / 16 >= 0.9, "\(Self.figures(comparison))")
        // A receiver that shares an encoder cannot follow rates that change faster than keyframes may come:
        // docs/encode-groups.md.
        #expect(shares.count { $0 < 0.85 } <= 1, "\(Self.figures(comparison))")
        #expect(shares.min() ?? 0 >= 0.75, "\(Self.figures(comparison))")
    }

    @Test("each of four gets from two encoders most of the quality that an own encoder would give")
    func four() throws {
        func run(encoders: Int?) throws -> RoomReport {
            try RoomSimulation(
                Self.parameters(count: 4, encoders: encoders, duration: .seconds(10), warmUp: .seconds(4))
            ).run()
        }
        let comparison = RoomComparison(shared: try run(encoders: 2), dedicated: try run(encoders: nil))
        #expect(comparison.shared.mostEncoders <= 2)
        #expect(comparison.dedicated.mostEncoders == 4)
        #expect(comparison.shares.min() ?? 0 >= 0.7, "\(Self.figures(comparison))")
    }
}

/// Tests that take minutes run where `CONFRELAY_LONG_TESTS` is set.
private enum LongTests {
    static var areWanted: Bool { ProcessInfo.processInfo.environment["CONFRELAY_LONG_TESTS"] != nil }
}

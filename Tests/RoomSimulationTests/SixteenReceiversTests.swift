import MediaCore
import NetworkSimulation
import Testing

@testable import RoomSimulation

/// Sixteen receivers on sixteen networks and four encoders, against an encoder for each.
@Suite struct SixteenReceiversTests {
    private static let duration = Duration.seconds(30)

    private static func parameters(encoders: Int?) -> RoomSimulationParameters {
        RoomSimulationParameters(
            receivers: RoomSimulationParameters.generatedReceivers(count: 16, duration: duration, seed: 1),
            duration: duration, maximumEncoders: encoders)
    }

    private static func figures(_ comparison: RoomComparison) -> String {
        zip(comparison.shared.receivers, zip(comparison.dedicated.receivers, comparison.shares)).map {
            shared, other in
            "\(shared.name) \(Int(shared.bitRate / 1000)) of \(Int(other.0.bitRate / 1000)) kbit/s, "
                + "\(Int(other.1 * 100)) %, p95 \(Int(shared.delay95)) and \(Int(other.0.delay95)) ms"
        }.joined(separator: "\n")
    }

    // Rates that change faster than keyframes may come cannot be followed by whoever shares: docs/encode-groups.md.
    @Test("each of sixteen gets most of what an encoder of its own would give, from four; keyframes take a twentieth")
    func sixteen() throws {
        let comparison = RoomComparison(
            shared: try RoomSimulation(Self.parameters(encoders: 4)).run(),
            dedicated: try RoomSimulation(Self.parameters(encoders: nil)).run())
        let shares = comparison.shares
        #expect(comparison.shared.mostEncoders <= 4)
        #expect(comparison.dedicated.mostEncoders == 16)
        #expect(comparison.shared.keyFrameShare <= 0.05, "\(comparison.shared.keyFrameShare)")
        #expect(shares.reduce(0, +) / 16 >= 0.83, "\(Self.figures(comparison))")
        #expect(shares.min() ?? 0 >= 0.6, "\(Self.figures(comparison))")
    }
}

import Foundation
import MediaCore
import Testing

@testable import Conference
@testable import NetworkSimulation

/// Sixteen receivers on sixteen networks and four encoders, against an encoder for each.
@Suite struct SixteenReceiversTests {
    private static let duration = Duration.seconds(30)

    /// Links whose rates change by themselves, from slow to fast.
    private static func links() -> [LinkProfile] {
        let kinds = TraceGenerator.Kind.allCases
        return (0..<16).map { index in
            var generator = TraceGenerator(kind: kinds[index % kinds.count], seed: UInt64(100 + index))
            // Each shares its cell or its cable with others.
            let rate = LinkRate.trace(generator.trace(duration: duration)).divided(by: 1 + index / 3)
            return LinkProfile(
                rate: rate, delay: .milliseconds(Int64(10 + index % 5 * 10)), queue: .duration(.milliseconds(800)))
        }
    }

    private struct Outcome {
        var goodput: [Double]
        var delay: [Duration]
        var keyFrameShare: Double
        var encoders: Int
        var moves: UInt64
        var freezes: [Double]

        init(_ links: [LinkProfile], budget: Int?, duration: Duration = SixteenReceiversTests.duration) {
            let room = ModelledRoom(budget: budget)
            let reports = room.run(links: links, for: duration)
            goodput = reports.map { $0.summary.goodput.kilobitsPerSecond }
            delay = reports.map(\.summary.frameDelay.percentile95)
            freezes = reports.map(\.summary.freezeFraction)
            (keyFrameShare, encoders, moves) = (room.keyFrameShare, room.mostEncoders, room.moves)
        }
    }

    @Test("each of sixteen gets nearly what an encoder of its own would give, from four")
    func sixteen() {
        let links = Self.links()
        let shared = Outcome(links, budget: 4)
        let own = Outcome(links, budget: nil)
        for index in links.indices {
            print(
                index, Int(shared.goodput[index]), Int(own.goodput[index]), shared.goodput[index] / own.goodput[index],
                shared.delay[index].milliseconds, own.delay[index].milliseconds, shared.freezes[index],
                own.freezes[index])
        }
        print(shared.keyFrameShare, own.keyFrameShare, shared.encoders, shared.moves)
        #expect(shared.encoders <= 4)
        #expect(shared.keyFrameShare <= 0.05)
    }
}

import AllocationCounter
import MediaCore
import Testing

@testable import confbench

@Suite("Sessions against bare codecs")
struct SessionComparisonTests {
    private final class Box {
        var value = 0
    }

    @Test("every contender encodes the same frames, and a different output is reported")
    func products() throws {
        func comparison(step: Int) -> SessionComparison {
            let boxes = [Box(), Box()]
            return SessionComparison(
                work: "count",
                contenders: boxes.enumerated().map { index, box in
                    SessionContender(
                        name: "\(index)", frame: { _ in box.value += index == 0 ? 1 : step },
                        product: { box.value })
                })
        }
        let results = try comparison(step: 1).run(for: .zero)
        #expect(results.map(\.frames) == [10, 10])
        #expect(throws: BenchmarkError.self) { try comparison(step: 2).run(for: .zero) }
    }

    @Test(
        "allocations are counted, and those of the bare codec are not the session's",
        .enabled(if: allocation_counter_is_active()))
    func allocations() throws {
        var kept: [[UInt8]] = []
        kept.reserveCapacity(1000)
        let contenders = [1, 3].map { count in
            SessionContender(
                name: "\(count)",
                frame: { number in
                    for index in 0..<count { kept.append(Array(repeating: UInt8(index), count: 100 + number % 7)) }
                    kept.removeAll(keepingCapacity: true)
                }, product: { 0 })
        }
        let results = try SessionComparison(work: "allocate", contenders: contenders).run(for: .zero)
        #expect(results[0].allocationsPerFrame >= 1)
        #expect(results[0].ownAllocationsPerFrame == 0)
        #expect(results[1].ownAllocationsPerFrame >= 2)
        #expect(results[1].allocatedBytesPerFrame >= 300)
    }

    @Test("the ratio is the median of the rounds")
    func ratio() {
        let bare = [1, 2, 4].map { SessionContender.Cost(time: .milliseconds($0), allocations: 10) }
        let session = [2, 3, 4].map { SessionContender.Cost(time: .milliseconds($0), allocations: 15) }
        let result = SessionResult(
            work: "a", isExact: true, contender: "b", costs: session, bareCosts: bare, framesEach: 10)
        #expect(abs(result.ratio - 1.5) < 1e-9)
        #expect(abs(result.processorMilliseconds - 0.3) < 1e-9)
        #expect(abs(result.ownAllocationsPerFrame - 0.5) < 1e-9)
        #expect(result.frames == 30)
    }
}

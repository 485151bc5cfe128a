import MediaCore
import Testing

@testable import EncoderSharing

/// The division of receivers into groups, against all others that there are.
@Suite struct EncodePartitionTests {
    @Test("no other division into as many runs loses less", arguments: [true, false])
    func isOptimal(hasLayers: Bool) {
        var random = SeededGenerator(seed: 11)
        let loss = EncodeLoss(hasLayers: hasLayers)
        for _ in 0..<300 {
            let keys = Int.random(in: 1...3, using: &random)
            let levels = (0..<keys).map { _ in
                (0..<Int.random(in: 1...5, using: &random)).map { _ in
                    EncodeLoss.level(.kilobits(Double.random(in: 200...3000, using: &random)))
                }.sorted()
            }
            let budget = Int.random(in: 1...7, using: &random)
            let runs = EncodePartition.best(levels, budget: budget, loss: loss)
            #expect(runs.map { $0.reduce(0) { $0 + $1.count } } == levels.map(\.count))
            #expect(runs.reduce(0) { $0 + $1.count } <= max(budget, keys))
            let found = zip(levels, runs).reduce(0) { $0 + cost($1.0, $1.1, loss) }
            let least = leastCost(levels[...], spare: max(0, budget - keys), loss)
            #expect(abs(found - least) < 1e-6, "\(found) where \(least) is possible")
        }
    }

    @Test("the loss of a run is the loss at its best rate", arguments: [true, false])
    func runsLoseTheirBest(hasLayers: Bool) {
        var random = SeededGenerator(seed: 12)
        let loss = EncodeLoss(hasLayers: hasLayers)
        for _ in 0..<200 {
            let levels = (0..<8).map { _ in Double.random(in: 12...14.5, using: &random) }.sorted()
            let runs = loss.ofRuns(levels)
            for first in levels.indices {
                for last in first..<levels.count {
                    #expect(abs(runs[first][last] - loss.best(for: Array(levels[first...last])).loss) < 1e-6)
                }
            }
        }
    }

    @Test("no best rate is above its bound", arguments: [true, false])
    func bestIsBounded(hasLayers: Bool) {
        var random = SeededGenerator(seed: 13)
        let loss = EncodeLoss(hasLayers: hasLayers)
        #expect(loss.bound(for: []) == nil)
        for count in 1...200 {
            let levels = (0..<count % 9 + 1).map { _ in Double.random(in: 12...14.5, using: &random) }.sorted()
            #expect(loss.best(for: levels).level <= loss.bound(for: levels) ?? 0)
        }
    }

    @Test("members of one rate do not change the best rate by their number", arguments: [true, false])
    func equalMembers(hasLayers: Bool) {
        let loss = EncodeLoss(hasLayers: hasLayers)
        let best = loss.best(for: [13, 13, 13, 13.5, 13.5])
        let candidates = [13, 13 + loss.span, 13.5, 13.5 + loss.span]
        let least = candidates.map { loss.loss(of: [13, 13, 13, 13.5, 13.5], at: $0) }.min() ?? 0
        #expect(abs(best.loss - least) < 1e-9)
    }

    private func cost(_ levels: [Double], _ runs: [Range<Int>], _ loss: EncodeLoss) -> Double {
        runs.reduce(0) { $0 + loss.best(for: Array(levels[$1])).loss } + loss.encoder * Double(runs.count - 1)
    }

    private func leastCost(_ levels: ArraySlice<[Double]>, spare: Int, _ loss: EncodeLoss) -> Double {
        guard let first = levels.first else { return 0 }
        var least = Double.infinity
        for cuts in 0..<(1 << (first.count - 1)) where cuts.nonzeroBitCount <= spare {
            var runs: [Range<Int>] = []
            var begin = 0
            for index in 1..<max(1, first.count) where cuts >> (index - 1) & 1 == 1 {
                runs.append(begin..<index)
                begin = index
            }
            runs.append(begin..<first.count)
            let rest = leastCost(levels.dropFirst(), spare: spare - cuts.nonzeroBitCount, loss)
            least = min(least, cost(first, runs, loss) + rest)
        }
        return least
    }
}

import Foundation
import MediaCore

/// The cost of one contender. Fields are added, never renamed or given another unit.
struct SessionResult: Codable, Sendable {
    var work: String
    /// True if its output equals that of the bare codec exactly.
    var isExact: Bool
    var contender: String
    var frames: Int
    /// The processor time of this thread for a frame.
    var processorMilliseconds: Double
    /// The ratio of processor time to the bare codec's: the median of the rounds, and their quartiles.
    var ratio: Double
    var lowerQuartile: Double
    var upperQuartile: Double
    /// Calls of malloc and its kin for a frame, and the bytes asked for.
    var allocationsPerFrame: Double
    var allocatedBytesPerFrame: Double
    /// The calls beyond the bare codec's, in those rounds in which there were more.
    var ownAllocationsPerFrame: Double

    init(
        work: String, isExact: Bool, contender: String, costs: [SessionContender.Cost],
        bareCosts: [SessionContender.Cost], framesEach: Int
    ) {
        self.work = work
        self.isExact = isExact
        self.contender = contender
        frames = costs.count * framesEach
        let (total, count) = (
            costs.reduce(into: SessionContender.Cost()) { $0 += $1 }, Double(max(1, costs.count * framesEach))
        )
        processorMilliseconds = total.time.seconds * 1000 / count
        let ratios = zip(costs, bareCosts).compactMap { $1.time > .zero ? $0.time / $1.time : nil }.sorted()
        ratio = ConferenceResult.median(ratios)
        lowerQuartile = ratios.isEmpty ? 0 : ratios[ratios.count / 4]
        upperQuartile = ratios.isEmpty ? 0 : ratios[ratios.count * 3 / 4]
        allocationsPerFrame = Double(total.allocations) / count
        allocatedBytesPerFrame = Double(total.allocatedBytes) / count
        let own = zip(costs, bareCosts).reduce(0) { $0 + max(0, $1.0.allocations - $1.1.allocations) }
        ownAllocationsPerFrame = Double(own) / count
    }
}

/// The output of `--json`.
struct SessionsReport: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var durationSeconds: Int
    /// True if allocations were counted.
    var areAllocationsCounted: Bool
    var results: [SessionResult] = []

    /// The table for people.
    var text: String {
        let columns = [
            "work", "by", "frames", "CPU ms", "ratio", "quartiles", "allocations", "bytes", "of our own",
        ]
        let rows = results.map { result in
            [
                result.work, result.contender, "\(result.frames)",
                ResultTable.number(result.processorMilliseconds, 3), ResultTable.number(result.ratio, 3),
                ResultTable.number(result.lowerQuartile, 3) + " " + ResultTable.number(result.upperQuartile, 3),
                areAllocationsCounted ? ResultTable.number(result.allocationsPerFrame, 2) : "-",
                areAllocationsCounted ? ResultTable.number(result.allocatedBytesPerFrame, 0) : "-",
                areAllocationsCounted ? ResultTable.number(result.ownAllocationsPerFrame, 3) : "-",
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }
}

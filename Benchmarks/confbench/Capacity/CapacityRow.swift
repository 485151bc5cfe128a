/// The results of all runs with one way and one number of participants.
///
/// As JSON it has the medians as fields of its own, and the lowest figures, the highest ones and the runs beside them.
struct CapacityRow: Codable, Sendable {
    /// At least one.
    var runs: [CapacityResult]

    private enum CodingKeys: String, CodingKey { case isHeld, lowest, highest, runs }

    init(runs: [CapacityResult]) {
        self.runs = runs
    }

    init(from decoder: any Decoder) throws {
        runs = try decoder.container(keyedBy: CodingKeys.self).decode([CapacityResult].self, forKey: .runs)
    }

    func encode(to encoder: any Encoder) throws {
        try median.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isHeld, forKey: .isHeld)
        try container.encode(lowest, forKey: .lowest)
        try container.encode(highest, forKey: .highest)
        try container.encode(runs, forKey: .runs)
    }

    /// True if the conference was held in each run.
    var isHeld: Bool { runs.allSatisfy(\.isHeld) }

    var median: CapacityResult { .joined(runs, ConferenceResult.median) }
    private var lowest: CapacityResult { .joined(runs) { $0.min() ?? 0 } }
    private var highest: CapacityResult { .joined(runs) { $0.max() ?? 0 } }

    /// The table of all rows. Main figures are medians, with the lowest and the highest in parentheses.
    static func table(_ rows: [Self]) -> String {
        let columns = [
            "way", "N", "cores", "floor", "ratio", "clients", "fps sent", "fps least", "fps", "missed ticks", "kbit/s",
            "PSNR", "SSIM", "p50 ms", "p95 ms", "1st p50", "1st p95", "own p50", "own p95", "MB each", "held",
        ]
        return ResultTable.aligned([columns] + rows.map(\.cells)).joined(separator: "\n")
    }

    private var cells: [String] {
        let (median, lowest, highest) = (median, lowest, highest)
        func number(_ figure: KeyPath<CapacityResult, Double?>, _ decimals: Int) -> String {
            median[keyPath: figure].map { ResultTable.number($0, decimals) } ?? "-"
        }
        func spread(_ figure: KeyPath<CapacityResult, Double?>, _ decimals: Int) -> String {
            let middle = number(figure, decimals)
            guard runs.count > 1, let least = lowest[keyPath: figure], let most = highest[keyPath: figure] else {
                return middle
            }
            return middle + " (\(ResultTable.number(least, decimals))–\(ResultTable.number(most, decimals)))"
        }
        return [
            median.way.rawValue, "\(median.participants)", spread(\.servingCores, 2), number(\.floorCores, 2),
            spread(\.floorRatio, 2), ResultTable.number(median.clientCores, 2),
            number(\.leastSentFramesPerSecond, 1), number(\.leastFramesPerSecond, 1), number(\.framesPerSecond, 1),
            median.missedTickShare.map { ResultTable.number($0 * 100, 2) + " %" } ?? "-",
            spread(\.kilobitsPerSecond, 0), spread(\.peakSignalToNoiseRatio, 1), spread(\.structuralSimilarity, 3),
            spread(\.medianLatencyMilliseconds, 0), spread(\.p95LatencyMilliseconds, 0),
            spread(\.firstMedianLatencyMilliseconds, 0), spread(\.firstP95LatencyMilliseconds, 0),
            number(\.medianDelayMilliseconds, 0), number(\.p95DelayMilliseconds, 0),
            ResultTable.number(median.megabytesEach, 1), isHeld ? "yes" : "no",
        ]
    }
}

extension CapacityResult {
    fileprivate var servingCores: Double? { cores }
}

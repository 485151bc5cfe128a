/// The results of interleaved runs: each way and number of participants once, then all of them again.
struct CapacitySeries {
    private(set) var rows: [CapacityRow] = []
    private let measuresAll: Bool
    /// The fewest participants with whom a way was not held.
    private var limits: [CapacityWay: Int] = [:]

    /// - Parameter measuresAll: True if larger conferences of a way are wanted even after one was not held.
    init(measuresAll: Bool) {
        self.measuresAll = measuresAll
    }

    /// True if this conference is to be measured: no smaller one of its way was not held in any run.
    func isWanted(_ way: CapacityWay, participants: Int) -> Bool {
        measuresAll || participants <= limits[way] ?? .max
    }

    mutating func add(_ result: CapacityResult) {
        if !result.isHeld { limits[result.way] = min(limits[result.way] ?? .max, result.participants) }
        let index = rows.firstIndex {
            $0.runs[0].way == result.way && $0.runs[0].participants == result.participants
        }
        if let index { rows[index].runs.append(result) } else { rows.append(CapacityRow(runs: [result])) }
    }
}

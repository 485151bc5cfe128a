/// Which of several sets of figures are beaten by no other: none is at least as good in utilisation, p95 queueing delay
/// and frames in time, and better in one of them.
public enum ParetoFront {
    /// A metric, and whether more of it is better.
    public static let dimensions: [(metric: Metric, isMoreBetter: Bool)] = [
        (.utilization, true), (.queueingDelay95, false), (.framesLateOrLost, false),
    ]

    /// Whether `one` is at least as good as `other` in everything, and better in something. What either does not have
    /// is not compared.
    public static func dominates(_ one: MetricValues, _ other: MetricValues) -> Bool {
        var isBetter = false
        for (metric, isMoreBetter) in dimensions {
            guard let first = one[metric], let second = other[metric], first != second else { continue }
            guard (first > second) == isMoreBetter else { return false }
            isBetter = true
        }
        return isBetter
    }

    /// The places of those that no other one dominates.
    public static func indices(of all: [MetricValues]) -> [Int] {
        all.indices.filter { place in !all.contains { dominates($0, all[place]) } }
    }
}

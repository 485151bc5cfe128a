/// The Pareto front of several sets of figures: the sets that no other set dominates. One set dominates another if it
/// is at least as good in utilisation, p95 queueing delay and frames in time, and better in one of them.
public enum ParetoFront {
    /// The compared metrics, each with the direction that is better.
    public static let dimensions: [(metric: Metric, isMoreBetter: Bool)] = [
        (.utilization, true), (.queueingDelay95, false), (.framesLateOrLost, false),
    ]

    /// Returns true if `one` is at least as good as `other` in every dimension, and better in one. A dimension is
    /// ignored if one of the sets lacks it.
    public static func dominates(_ one: MetricValues, _ other: MetricValues) -> Bool {
        var isBetter = false
        for (metric, isMoreBetter) in dimensions {
            guard let first = one[metric], let second = other[metric], first != second else { continue }
            guard (first > second) == isMoreBetter else { return false }
            isBetter = true
        }
        return isBetter
    }

    /// Returns the indices of the sets that no other set dominates.
    public static func indices(of all: [MetricValues]) -> [Int] {
        all.indices.filter { place in !all.contains { dominates($0, all[place]) } }
    }
}

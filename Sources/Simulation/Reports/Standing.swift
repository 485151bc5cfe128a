/// The standing of a controller over several cases.
public struct Standing: Sendable {
    public var controller: String
    public var caseCount: Int
    /// The mean of each metric over the cases.
    public var metrics: MetricValues
    /// The number of cases in which it is on the Pareto front; `bestCount` counts those with the highest score. Nil for
    /// references.
    public var frontCount: Int?
    public var bestCount: Int?
    /// The number of cases in which this controller has a higher score, for each other controller.
    public var aheadOf: [String: Int]

    /// Returns the standings of all controllers over some cases.
    public static func all(of cases: [Comparison.Case], controllers: [String]) -> [Standing] {
        controllers.compactMap { controller in
            let entries = cases.compactMap { $0.entry(of: controller) }
            guard !entries.isEmpty else { return nil }
            let isReference = Comparison.references.contains(controller)
            var aheadOf: [String: Int] = [:]
            for other in controllers where other != controller {
                aheadOf[other] = cases.count { item in
                    guard let own = item.entry(of: controller)?.metrics[.score],
                        let theirs = item.entry(of: other)?.metrics[.score]
                    else { return false }
                    return own > theirs
                }
            }
            return Standing(
                controller: controller, caseCount: entries.count, metrics: .mean(of: entries.map(\.metrics)),
                frontCount: isReference ? nil : entries.count(where: \.isOnFront),
                bestCount: isReference ? nil : entries.count(where: \.isBest), aheadOf: aheadOf)
        }
    }
}

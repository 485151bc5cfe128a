import VectorGraphics

/// A column of a report's table: its title, metric and number of decimals.
public struct MetricColumn: Hashable, Sendable {
    public var title: String
    public var metric: Metric
    public var decimals: Int

    public init(_ title: String, _ metric: Metric, _ decimals: Int) {
        self.title = title
        self.metric = metric
        self.decimals = decimals
    }

    func text(_ values: MetricValues) -> String { NumberText.fixed(values[metric], decimals) }

    /// The columns that fit into a terminal.
    public static let short = [
        MetricColumn("score", .score, 1), MetricColumn("Mbit/s", .goodput, 2), MetricColumn("util %", .utilization, 1),
        MetricColumn("queue p50 ms", .queueingDelayMedian, 1), MetricColumn("p95 ms", .queueingDelay95, 1),
        MetricColumn("loss %", .loss, 2), MetricColumn("frame p95 ms", .frameDelay95, 0),
        MetricColumn("late or lost %", .framesLateOrLost, 2), MetricColumn("ramp s", .ramp, 1),
        MetricColumn("recovery %", .recoveryDeficit, 1), MetricColumn("fair 20s", .fairness20, 3),
        MetricColumn("vs tcp %", .shareAgainstTCP, 0),
    ]

    /// The columns that fit on a page.
    public static let long = [
        MetricColumn("score", .score, 1), MetricColumn("Mbit/s", .goodput, 2), MetricColumn("util %", .utilization, 1),
        MetricColumn("queue mean ms", .queueingDelayMean, 0), MetricColumn("p95 ms", .queueingDelay95, 0),
        MetricColumn("p99 ms", .queueingDelay99, 0), MetricColumn("loss %", .loss, 2),
        MetricColumn("residual %", .residualLoss, 2), MetricColumn("frame p50 ms", .frameDelayMedian, 0),
        MetricColumn("p95 ms", .frameDelay95, 0), MetricColumn("p99 ms", .frameDelay99, 0),
        MetricColumn("late or lost %", .framesLateOrLost, 2), MetricColumn("freezes", .freezeCount, 1),
        MetricColumn("frozen s", .freezeTime, 1), MetricColumn("ramp s", .ramp, 1),
        MetricColumn("overshoot %", .overshoot, 0), MetricColumn("settling s", .settling, 1),
        MetricColumn("undershoot %", .undershoot, 0), MetricColumn("recovery deficit %", .recoveryDeficit, 0),
        MetricColumn("recovery s", .recovery, 1), MetricColumn("variation %", .rateVariation, 0),
        MetricColumn("fair 1s", .fairness1, 2), MetricColumn("5s", .fairness5, 2),
        MetricColumn("20s", .fairness20, 2), MetricColumn("vs tcp %", .shareAgainstTCP, 0),
        MetricColumn("feedback %", .feedback, 1),
    ]

    /// The columns for the means of a suite.
    public static let means = [
        MetricColumn("score", .score, 1), MetricColumn("Mbit/s", .goodput, 2), MetricColumn("util %", .utilization, 1),
        MetricColumn("queue mean ms", .queueingDelayMean, 0), MetricColumn("queue p95 ms", .queueingDelay95, 0),
        MetricColumn("loss %", .loss, 2), MetricColumn("residual %", .residualLoss, 2),
        MetricColumn("frame p95 ms", .frameDelay95, 0), MetricColumn("late or lost %", .framesLateOrLost, 1),
        MetricColumn("frozen %", .freeze, 1), MetricColumn("ramp s", .ramp, 1),
        MetricColumn("recovery deficit %", .recoveryDeficit, 0), MetricColumn("fair 20s", .fairness20, 3),
        MetricColumn("vs tcp %", .shareAgainstTCP, 0),
    ]
}

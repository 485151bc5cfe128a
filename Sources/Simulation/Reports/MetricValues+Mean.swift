extension MetricValues {
    /// Returns the mean of each metric over all entries that have it.
    public static func mean(of all: [MetricValues]) -> MetricValues {
        var mean = MetricValues()
        for metric in Metric.allCases {
            let values = all.compactMap { $0[metric] }
            if !values.isEmpty { mean[metric] = values.reduce(0, +) / Double(values.count) }
        }
        return mean
    }
}

import MediaCore

/// The figures by which traces are compared. The names in their JSON are stable.
public struct TraceStatistics: Codable, Hashable, Sendable {
    /// The duration in seconds.
    public var duration: Double
    public var opportunities: Int
    /// The mean rate in Mbit/s; the percentiles are those of the rates of single seconds.
    public var mean: Double
    public var percentile5: Double
    public var median: Double
    public var percentile95: Double
    /// The standard deviation of the rates of single seconds, divided by their mean.
    public var variation: Double
    /// The gaps of over 300 ms between opportunities: their number, and in seconds their sum and the longest one.
    public var outages: Int
    public var outageTime: Double
    public var longestOutage: Double
    /// The seconds after which the autocorrelation of the rate (in steps of 200 ms) falls below 1/e; nil if it does not
    /// within half of the trace.
    public var autocorrelationTime: Double?

    public enum CodingKeys: String, CodingKey {
        case duration = "duration_s"
        case opportunities
        case mean = "mean_mbps"
        case percentile5 = "p5_mbps"
        case median = "p50_mbps"
        case percentile95 = "p95_mbps"
        case variation = "cv"
        case outages
        case outageTime = "outage_s"
        case longestOutage = "longest_outage_s"
        case autocorrelationTime = "autocorrelation_s"
    }

    private static let outage: Int64 = 300

    public init(_ trace: DeliveryTrace) {
        duration = trace.period.seconds
        opportunities = trace.milliseconds.count
        mean = trace.meanRate.kilobitsPerSecond / 1000
        let seconds = Self.rates(trace, bin: .seconds(1))
        let sorted = seconds.sorted()
        func percentile(_ part: Int) -> Double { sorted.isEmpty ? 0 : sorted[(sorted.count - 1) * part / 100] }
        percentile5 = percentile(5)
        median = percentile(50)
        percentile95 = percentile(95)
        variation = Self.variation(seconds)
        let ends = [0] + trace.milliseconds
        let gaps = zip(ends, ends.dropFirst()).map { $1 - $0 }.filter { $0 > Self.outage }
        outages = gaps.count
        outageTime = Double(gaps.reduce(0, +)) / 1000
        longestOutage = Double(gaps.max() ?? 0) / 1000
        autocorrelationTime = Self.autocorrelationTime(Self.rates(trace, bin: .milliseconds(200)))
    }

    /// Returns the rates of whole bins, in Mbit/s. A trace that is shorter than a bin has one, of its repetitions.
    private static func rates(_ trace: DeliveryTrace, bin: Duration) -> [Double] {
        let count = max(Int(trace.period.nanoseconds / bin.nanoseconds), 1)
        return (0..<count).map { index in
            let size = LinkRate.trace(trace).capacity(from: bin * index, to: bin * (index + 1)) ?? .zero
            return size.bits / bin.seconds / 1e6
        }
    }

    private static func variation(_ rates: [Double]) -> Double {
        let mean = rates.reduce(0, +) / Double(max(rates.count, 1))
        guard mean > 0 else { return 0 }
        let variance = rates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(rates.count)
        return variance.squareRoot() / mean
    }

    private static func autocorrelationTime(_ rates: [Double]) -> Double? {
        let mean = rates.reduce(0, +) / Double(max(rates.count, 1))
        let deviations = rates.map { $0 - mean }
        let variance = deviations.reduce(0) { $0 + $1 * $1 }
        guard variance > 0 else { return nil }
        for lag in 1..<max(rates.count / 2, 1) {
            let covariance = zip(deviations, deviations.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 }
            if covariance / variance < 0.367_879 { return Double(lag) * 0.2 }
        }
        return nil
    }
}

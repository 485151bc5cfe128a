import Foundation
import FoundationNetworking

/// The delay that a relay added to all the frames that were shown to anybody, from its metrics.
struct DelayDistribution {
    /// The number of frames that took at most so many seconds, by that time.
    private var cumulative: [Double: Double] = [:]

    static func read(of room: URL) async throws -> Self {
        guard let url = URL(string: "/metrics", relativeTo: room) else { return Self() }
        let (data, _) = try await URLSession.shared.data(from: url)
        var distribution = Self()
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("confrelay_stage_latency_seconds_bucket"), line.contains("stage=\"total\""),
                let bound = line.firstMatch(of: /le="([^"]+)"/),
                let value = line.split(separator: " ").last.flatMap({ Double($0) })
            else { continue }
            distribution.cumulative[Double(bound.1) ?? .infinity, default: 0] += value
        }
        return distribution
    }

    static func - (left: Self, right: Self) -> Self {
        Self(cumulative: left.cumulative.merging(right.cumulative) { $0 - $1 })
    }

    /// A quantile in milliseconds, as if a bucket's frames were spread evenly over it; nil if there are none.
    func quantile(_ share: Double) -> Double? {
        let buckets = cumulative.sorted { $0.key < $1.key }
        guard let count = buckets.last?.value, count > 0 else { return nil }
        var (lower, below) = (0.0, 0.0)
        for (bound, value) in buckets {
            if value >= count * share, bound.isFinite {
                return (lower + (bound - lower) * (count * share - below) / max(1, value - below)) * 1000
            }
            if bound.isFinite { (lower, below) = (bound, value) }
        }
        return lower * 1000
    }
}

/// The memory of a process.
enum ProcessMemory {
    static func megabytes(of process: Int32) -> Double {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        return kilobytes / 1000
    }
}

import MediaCore

/// A histogram of delays, in constant memory.
///
/// Bins are 1 µs wide below 256 µs, and above that 1/128 to 1/256 of their delay: a percentile is accurate to 0.4 %.
/// The mean, the smallest and the largest delay are exact. Delays of over 1000 s count as 1000 s.
struct DelayHistogram {
    /// The binary logarithm of the number of bins for each power of two.
    private static let precision = 7
    private static let largest: Int64 = 1 << 30

    private var counts = [UInt32](repeating: 0, count: bin(of: largest) + 1)
    private(set) var count = 0
    private var sum: Int64 = 0
    private var least = Int64.max
    private var most = Int64.min

    mutating func add(_ delay: Duration) {
        let nanoseconds = max(delay.nanoseconds, 0)
        let bin = Self.bin(of: min(nanoseconds / 1000, Self.largest))
        counts[bin] &+= 1
        count += 1
        sum &+= nanoseconds
        least = min(least, nanoseconds)
        most = max(most, nanoseconds)
    }

    private static func bin(of microseconds: Int64) -> Int {
        let shift = max(63 - precision - microseconds.leadingZeroBitCount, 0)
        return shift << precision + Int(microseconds >> shift)
    }

    /// Returns the middle of a bin in nanoseconds.
    private static func middle(of bin: Int) -> Int64 {
        let shift = max(bin >> precision - 1, 0)
        let lower = Int64(bin - shift << precision) << shift
        return lower * 1000 + (shift > 0 ? (1000 << shift) / 2 : 0)
    }

    /// Returns the delays at these places of the ascending order. The places must ascend, too.
    private func delays(at places: [Int]) -> [Duration] {
        var found: [Duration] = []
        found.reserveCapacity(places.count)
        var bin = 0
        var upTo = Int(counts[0])
        for place in places {
            while place >= upTo, bin + 1 < counts.count {
                bin += 1
                upTo += Int(counts[bin])
            }
            found.append(.nanoseconds(min(max(Self.middle(of: bin), least), most)))
        }
        return found
    }

    /// The distribution; all zero without delays.
    var distribution: DelayDistribution {
        var distribution = DelayDistribution()
        guard count > 0 else { return distribution }
        let percentiles = delays(at: [50, 95, 99].map { min(count * $0 / 100, count - 1) })
        distribution.mean = .nanoseconds(sum / Int64(count))
        distribution.median = percentiles[0]
        distribution.percentile95 = percentiles[1]
        distribution.percentile99 = percentiles[2]
        distribution.maximum = .nanoseconds(most)
        return distribution
    }

    /// The percentiles of the delays from 0 to 100, in ms; empty without delays.
    var percentiles: [Double] {
        guard count > 0 else { return [] }
        return delays(at: (0...100).map { (count - 1) * $0 / 100 }).map(\.milliseconds)
    }
}

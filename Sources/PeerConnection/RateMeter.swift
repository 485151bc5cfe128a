package import MediaCore

/// Measures a bit rate over the last second, in buckets of 100 ms.
package struct RateMeter {
    private static let bucket = Duration.milliseconds(100)
    private static let bucketCount = 10
    private var bytes = [Int](repeating: 0, count: bucketCount)
    private var newest: Int64 = 0

    package init() {}

    package mutating func add(_ size: DataSize, now: MonotonicInstant) {
        advance(now: now)
        bytes[Int(newest % Int64(Self.bucketCount))] += size.bytes
    }

    /// The rate over the last second.
    package mutating func rate(now: MonotonicInstant) -> BitRate {
        advance(now: now)
        return BitRate(DataSize(bytes: bytes.reduce(0, +)), over: Self.bucket * Self.bucketCount)
    }

    private mutating func advance(now: MonotonicInstant) {
        let index = max(0, now.nanoseconds / Self.bucket.nanoseconds)
        guard index > newest else { return }
        if index - newest >= Int64(Self.bucketCount) {
            for slot in bytes.indices { bytes[slot] = 0 }
        } else {
            for step in (newest + 1)...index { bytes[Int(step % Int64(Self.bucketCount))] = 0 }
        }
        newest = index
    }
}

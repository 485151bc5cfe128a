import MediaCore

/// The last minute, in buckets of a tenth of a second.
enum TimelineScale {
    static let bucketDuration = Duration.milliseconds(100)
    static let bucketCount = 600
    /// The extent of a timeline.
    static let length = Duration.seconds(60)

    /// Returns the bucket of an instant, counted from the clock's origin.
    static func bucket(at instant: MonotonicInstant) -> Int64 {
        let (quotient, remainder) = instant.nanoseconds.quotientAndRemainder(dividingBy: bucketDuration.nanoseconds)
        return remainder < 0 ? quotient - 1 : quotient
    }

    static func start(ofBucket index: Int64) -> MonotonicInstant {
        let (start, overflow) = index.multipliedReportingOverflow(by: bucketDuration.nanoseconds)
        return MonotonicInstant(nanoseconds: overflow ? (index < 0 ? .min : .max) : start)
    }
}

/// The newest buckets of a row, in memory that is allocated once: older ones are overwritten.
struct TimelineRing<Bucket: Sendable>: Sendable {
    private let empty: Bucket
    private var buckets: [Bucket]
    private var newest: Int64?

    /// - Parameter empty: The initial value of a bucket.
    init(empty: Bucket, count: Int = TimelineScale.bucketCount) {
        self.empty = empty
        buckets = [Bucket](repeating: empty, count: max(1, count))
    }

    /// Changes a bucket: the newest, one after it, or an earlier one that is still remembered.
    mutating func update(_ index: Int64, _ change: (inout Bucket) -> Void) {
        advance(to: index)
        guard let newest, newest - index < Int64(buckets.count) else { return }
        change(&buckets[slot(index)])
    }

    /// A bucket; nil if nothing is remembered of it.
    subscript(index: Int64) -> Bucket? {
        guard let newest, index <= newest, newest - index < Int64(buckets.count) else { return nil }
        return buckets[slot(index)]
    }

    private mutating func advance(to index: Int64) {
        guard let last = newest else {
            newest = index
            return
        }
        guard index > last else { return }
        newest = index
        guard index - last < Int64(buckets.count) else {
            for slot in buckets.indices { buckets[slot] = empty }
            return
        }
        for skipped in (last + 1)...index { buckets[slot(skipped)] = empty }
    }

    private func slot(_ index: Int64) -> Int {
        let count = Int64(buckets.count)
        return Int(((index % count) + count) % count)
    }
}

/// The newest things that happened in a row, in memory that is taken once: the oldest go when there are too many.
struct RecentList<Element: Sendable>: Sendable {
    private let capacity: Int
    private(set) var elements: [Element] = []

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        elements.reserveCapacity(self.capacity)
    }

    mutating func append(_ element: Element) {
        if elements.count == capacity { elements.removeFirst() }
        elements.append(element)
    }

    var last: Element? { elements.last }
}

/// Reads a counter that only grows, or begins again.
struct CounterReading: Sendable {
    private var last: UInt64 = 0

    /// Returns the growth of the counter since the last reading.
    mutating func advance(to value: UInt64) -> UInt64 {
        defer { last = value }
        return value >= last ? value - last : value
    }
}

extension UInt16 {
    /// Adds a counter's growth; the bucket saturates.
    mutating func count(_ growth: UInt64) {
        self = UInt16(clamping: UInt64(self) + Swift.min(growth, UInt64(UInt16.max)))
    }
}

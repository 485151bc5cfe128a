/// Computes from recent arrivals how long samples should wait so that nearly all packets are in time.
///
/// A packet's transit is its arrival less its timestamp; its origin is unknown and does not matter. The packet with the
/// smallest transit took the fastest way, and the delay of the others relative to it is the jitter. All times are in
/// samples at 48 kHz.
struct PlayoutDelayEstimator {
    /// The number of groups that count: five seconds at 20 ms.
    private static let windowCount = 256
    /// Packets whose timestamps are closer than this are one group, which is as late as its latest packet.
    private static let groupSampleCount: Int64 = 480
    /// If so many groups, half a second at 20 ms, were all slower than the fastest by more than the longest wait, the
    /// way has become longer: earlier packets say nothing of the next ones.
    private static let longerWayCount = 25
    /// The percentage of packets that should be in time.
    private static let percentile = 97
    /// The resolution of the jitter.
    private static let binSampleCount: Int64 = 120
    private static let binCount = 96

    private let range: ClosedRange<Int64>
    private var transits: [Int64] = []
    private var next = 0
    private var groupTimestamp: Int64?
    private var bins = [Int](repeating: 0, count: binCount)

    /// The transit of the fastest packet in the window.
    private(set) var base: Int64?
    /// The target wait of a sample, counted from the arrival of the fastest packet.
    private(set) var target: Int64

    init(range: ClosedRange<Int64>) {
        self.range = range
        target = range.lowerBound
        transits.reserveCapacity(Self.windowCount)
    }

    mutating func reset() {
        transits.removeAll(keepingCapacity: true)
        next = 0
        groupTimestamp = nil
        base = nil
        target = range.lowerBound
    }

    mutating func record(transit: Int64, timestamp: Int64) {
        let newest = (next + Self.windowCount - 1) % Self.windowCount
        if let groupTimestamp, newest < transits.count, abs(timestamp - groupTimestamp) < Self.groupSampleCount {
            transits[newest] = max(transits[newest], transit)
        } else {
            groupTimestamp = timestamp
            if transits.count < Self.windowCount {
                transits.append(transit)
            } else {
                transits[next] = transit
            }
            next = (next + 1) % Self.windowCount
        }
        if let base, transit - base > range.upperBound { forgetShorterWay(base) }
        update()
    }

    private mutating func forgetShorterWay(_ base: Int64) {
        let (count, window) = (Self.longerWayCount, Self.windowCount)
        guard transits.count > count,
            (1...count).allSatisfy({ transits[(next + window - $0) % window] - base > range.upperBound })
        else { return }
        let newest = (1...count).reversed().map { transits[(next + window - $0) % window] }
        transits.removeAll(keepingCapacity: true)
        transits.append(contentsOf: newest)
        next = count
    }

    private mutating func update() {
        guard let fastest = transits.min() else { return }
        base = fastest
        for bin in bins.indices { bins[bin] = 0 }
        for transit in transits {
            bins[Int(min((transit - fastest) / Self.binSampleCount, Int64(Self.binCount - 1)))] += 1
        }
        var remaining = (transits.count * Self.percentile + 99) / 100
        var bin = 0
        while bin < Self.binCount - 1 {
            remaining -= bins[bin]
            if remaining <= 0 { break }
            bin += 1
        }
        // A frame is played as a whole: the packet of its last sample is needed a frame before that sample's time.
        let jitter = bin == 0 ? 0 : Int64(bin + 1) * Self.binSampleCount
        target = min(max(jitter + Int64(AudioFormat.frameSampleCount), range.lowerBound), range.upperBound)
    }
}

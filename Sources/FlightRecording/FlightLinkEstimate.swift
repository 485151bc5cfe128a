import MediaCore

/// Estimates the link of a recorded flow.
///
/// If a packet was already waiting when the preceding one left, the link was busy from one departure to the other, and
/// carried just that packet. Such busy spans measure the link's rate; idle spans do not. A packet that waited long
/// although none was before it shows that the link stalled. Spans are summed in intervals. An interval with too little
/// busy time gets its rate by linear interpolation between the intervals before and after it.
///
/// Therefore the estimate is the share of this flow if others use the link, misses capacity that never had a queue, and
/// is too low if packets are lost behind the queue.
public struct FlightLinkEstimate: Hashable, Sendable {
    /// The times in milliseconds at which 1500 bytes may leave: a trace in mahimahi's format, whose last time is its
    /// length.
    public let milliseconds: [Int64]
    /// The part of the intervals whose rate was measured, not interpolated.
    public let measuredPart: Double

    /// The bytes that one line of a trace delivers.
    static let opportunity = 1500.0
    static let interval = Duration.milliseconds(100)
    /// The shortest wait that counts as a queue. Shorter waits come from timers and clocks.
    static let tolerance = Duration.milliseconds(1)
    /// The shortest wait of a packet without a predecessor that counts as a stall of the link.
    static let stall = Duration.milliseconds(50)
    /// The busy time in seconds from which an interval's rate is trusted; `enoughPackets` is the alternative.
    static let enoughTime = 0.025
    static let enoughPackets = 4.0
    /// The longest trace: a day. `maximumOpportunities` limits its data to 30 GB.
    static let longest = Duration.seconds(86_400)
    static let maximumOpportunities = 2e7
    /// The highest rate in bytes per second. No link of a call is faster.
    static let highestRate = 125e6

    /// The busy time of an interval, in seconds, with its bytes and packets.
    private struct Interval {
        var time = 0.0
        var bytes = 0.0
        var packets = 0.0

        var rate: Double? {
            guard time > 0, time >= FlightLinkEstimate.enoughTime || packets >= FlightLinkEstimate.enoughPackets else {
                return nil
            }
            return min(bytes / time, FlightLinkEstimate.highestRate)
        }
    }

    /// Estimates the link over the time of the recording; nil if nothing was measured, or if the recording is too long.
    ///
    /// - Parameter duration: The recording's length, which becomes the trace's.
    public init?(path: FlightPath, duration: Duration) {
        let width = Self.interval.seconds
        let count = Int(clamping: (duration.seconds / width).rounded(.up))
        guard count > 0, duration <= Self.longest else { return nil }
        var intervals = [Interval](repeating: Interval(), count: count)
        var lastDeparture: Duration?
        for packet in path.packets {
            defer { lastDeparture = packet.left }
            var begin = packet.entered
            if let lastDeparture, packet.entered + Self.tolerance < lastDeparture {
                begin = lastDeparture
            } else if packet.queueingDelay < Self.stall {
                continue
            }
            Self.add(from: begin.seconds, to: packet.left.seconds, bytes: Double(packet.size.bytes), to: &intervals)
        }
        let rates = intervals.map(\.rate)
        guard let filled = Self.filled(rates),
            filled.reduce(0, +) * width / Self.opportunity <= Self.maximumOpportunities
        else { return nil }
        measuredPart = Double(rates.count { $0 != nil }) / Double(count)
        let times = Self.opportunities(filled)
        guard let last = times.last, last > 0 else { return nil }
        milliseconds = times
    }

    /// Spreads a busy span over the intervals that it touches.
    private static func add(from begin: Double, to end: Double, bytes: Double, to intervals: inout [Interval]) {
        let width = interval.seconds
        let last = intervals.count - 1
        var position = max(begin, 0)
        var index = min(Int(clamping: position / width), last)
        guard end > position else {
            // Two packets in one instant: their time is in the neighbouring spans.
            intervals[index].bytes += bytes
            intervals[index].packets += 1
            return
        }
        let length = end - position
        while position < end {
            let stop = index == last ? end : min(end, Double(index + 1) * width)
            let part = max(stop - position, 0) / length
            intervals[index].time += max(stop - position, 0)
            intervals[index].bytes += bytes * part
            intervals[index].packets += part
            position = stop
            if index == last { return }
            index += 1
        }
    }

    /// Interpolates the missing rates linearly between their neighbours; returns nil if all are missing.
    private static func filled(_ rates: [Double?]) -> [Double]? {
        guard let first = rates.firstIndex(where: { $0 != nil }), var value = rates[first] else { return nil }
        var filled = [Double](repeating: value, count: rates.count)
        var known = first
        for (index, rate) in rates.enumerated().dropFirst(first) {
            guard let rate else { continue }
            for between in (known + 1)..<max(index, known + 1) {
                filled[between] = value + (rate - value) * Double(between - known) / Double(index - known)
            }
            filled[index] = rate
            (known, value) = (index, rate)
        }
        for index in (known + 1)..<max(rates.count, known + 1) { filled[index] = value }
        return filled
    }

    /// Returns the times at which each 1500 bytes have passed at these rates. The end of the last interval always has
    /// one, because it is the trace's length.
    private static func opportunities(_ rates: [Double]) -> [Int64] {
        let width = interval.seconds
        var times: [Int64] = []
        var credit = 0.0
        for (index, rate) in rates.enumerated() {
            var position = 0.0
            while rate > 0 {
                let wait = (opportunity - credit) / rate
                guard position + wait <= width else { break }
                position += wait
                credit = 0
                times.append(Int64(clamping: (Double(index) * width + position) * 1000))
            }
            credit += (width - position) * rate
        }
        let end = Int64(rates.count) * (interval.nanoseconds / 1_000_000)
        if times.last ?? 0 < end { times.append(end) }
        return times
    }
}

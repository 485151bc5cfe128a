import MediaCore

/// Estimates the link that a recorded flow went over.
///
/// Where a packet was waiting already when the one before it left, the link was busy from the one departure to the
/// other, and carried just that packet: such spans say what the link delivers, idle ones say nothing. A packet that
/// waited long although none was before it shows that the link stood still. Spans are summed in intervals; an interval
/// that was busy for too short a time gets its rate from those before and after it, on a straight line.
///
/// So it sees what was left to this flow where others share the link, nothing of capacity that never had a queue, and
/// too little where packets are lost behind the queue.
public struct FlightLinkEstimate: Hashable, Sendable {
    /// Times in milliseconds at which 1500 bytes may leave: a trace in mahimahi's format, whose last time is its
    /// length.
    public let milliseconds: [Int64]
    /// The part of intervals whose rate was seen, not interpolated.
    public let measuredPart: Double

    /// What one line of a trace delivers.
    static let opportunity = 1500.0
    static let interval = Duration.milliseconds(100)
    /// Shorter waits are timers and clocks, not queues.
    static let tolerance = Duration.milliseconds(1)
    /// A packet that waits for so long alone waits for the link.
    static let stall = Duration.milliseconds(50)
    /// What makes a span of an interval worth believing: this long, or so many packets.
    static let enoughTime = 0.025
    static let enoughPackets = 4.0
    /// No trace is longer than a day, nor larger than 30 GB.
    static let longest = Duration.seconds(86_400)
    static let maximumOpportunities = 2e7
    /// No link of a call is faster, bytes per second.
    static let highestRate = 125e6

    /// What was seen of an interval: seconds, bytes and packets while the link was busy.
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

    /// Estimates the link over the time of the recording; nil when nothing was ever seen of it, or it is too long.
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
            // Two packets in one instant: their time is in the spans around.
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

    /// The rates with those that are missing on straight lines between their neighbours; nil when all are.
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

    /// When each 1500 bytes are through at these rates. The end of the last interval has one in any case: it is the
    /// trace's length.
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

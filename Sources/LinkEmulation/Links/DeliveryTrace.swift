public import MediaCore

/// The times at which a link may deliver, in mahimahi's format: each line is a time in milliseconds at which up to 1500
/// bytes may leave. The list repeats at its end; its last time is the period.
public struct DeliveryTrace: Hashable, Sendable {
    /// The most that one opportunity delivers.
    public static let opportunitySize = DataSize(bytes: 1500)

    /// The times in milliseconds, ascending. Never empty; the last one is above zero.
    let times: [Int64]

    /// The length of the trace before it repeats.
    public var period: Duration { .milliseconds(times[times.count - 1]) }

    /// The rate if every opportunity is used.
    public var meanRate: BitRate {
        BitRate(DataSize(bytes: Self.opportunitySize.bytes * times.count), over: period)
    }

    /// Reads a trace's text; empty lines and lines that start with `#` are skipped.
    public init(parsing text: String) throws(LinkProfileError) {
        var times: [Int64] = []
        var number = 0
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard let first = line.first(where: { !Self.isSpace($0) }), first != UInt8(ascii: "#") else { continue }
            guard let time = Self.time(line), time <= Self.maximumTime else {
                throw .invalidTrace(
                    line: number, reason: "'\(Self.shown(line))' is not a time in whole milliseconds")
            }
            guard time >= times.last ?? 0 else {
                throw .invalidTrace(line: number, reason: "\(time) is earlier than the time before, \(times.last ?? 0)")
            }
            times.append(time)
        }
        guard let last = times.last else { throw .invalidTrace(line: number, reason: "there is no time in it") }
        guard last > 0 else { throw .invalidTrace(line: number, reason: "the last time, the period, must be above 0") }
        self.times = times
    }

    /// Creates a trace from times in milliseconds in any order; nil without a time above zero.
    public init?(milliseconds times: [Int64]) {
        let times = times.filter { (0...Self.maximumTime).contains($0) }.sorted()
        guard let last = times.last, last > 0 else { return nil }
        self.times = times
    }

    /// Creates a trace with one opportunity each `milliseconds`, at least one.
    package init(oneOpportunityEach milliseconds: Int64) {
        times = [max(milliseconds, 1)]
    }

    /// The times in milliseconds, ascending.
    public var milliseconds: [Int64] { times }

    /// Returns a trace with every `count`-th opportunity and the same period.
    func divided(by count: Int) -> DeliveryTrace {
        let last = times.count - 1
        let kept = times.enumerated().filter { ($0.offset + 1) % count == 0 || $0.offset == last }
        return DeliveryTrace(milliseconds: kept.map(\.element)) ?? self
    }

    /// The longest accepted time: a day. No trace of a link is longer.
    private static let maximumTime: Int64 = 86_400_000

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func time(_ line: Substring.UTF8View) -> Int64? {
        var value: Int64?
        var hasEnded = false
        for byte in line {
            if isSpace(byte) {
                hasEnded = value != nil
                continue
            }
            guard !hasEnded, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = (value ?? 0) * 10 + Int64(byte - UInt8(ascii: "0"))
            guard value ?? 0 <= maximumTime else { return nil }
        }
        return value
    }

    private static func shown(_ line: Substring.UTF8View) -> String {
        String(String(decoding: line, as: UTF8.self).filter { $0 != "\r" }.prefix(32))
    }
}

public import MediaCore

extension LinkProfile {
    /// The syntax of a link's description, for help texts.
    public static let syntax = """
        rate=500k (or 2.5M, or 2.5M/500k@20s/2M@40s for steps) or trace=FILE (mahimahi, or lines of seconds,Mbit/s), \
        delay=40ms, jitter=5ms, reorder=yes, loss=1%, burst=5 (mean length of a run of losses), queue=300ms (or 64kB, \
        or 1000p), packets=1000, aqm=codel (or fq-codel, or dualpi2), policer=1M/32kB, separated by commas
        """

    /// Parses a link's description, such as `rate=500k,delay=40ms,jitter=5ms,loss=1%,queue=300ms`.
    ///
    /// - Parameters:
    ///   - text: Keys and values. A missing key means unlimited, zero or, for the queue, 300 ms.
    ///   - readTrace: Returns the text of the file that `trace=` names; throws `.unreadableTrace`.
    public init(
        parsing text: String, readTrace: (_ path: String) throws(LinkProfileError) -> String
    ) throws(LinkProfileError) {
        self.init()
        var seen: Set<String> = []
        var burst: Double?
        for item in text.split(separator: ",") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = String(Self.trimmed(parts[0]))
            let value = parts.count > 1 ? String(Self.trimmed(parts[1])) : ""
            guard seen.insert(key).inserted else { throw .repeatedKey(key) }
            if key == "burst" {
                guard let length = Double(value), length >= 1, length <= 1e6 else {
                    throw .invalidValue(key: key, value: value, expected: "a number of packets of at least 1")
                }
                burst = length
            } else {
                try apply(key: key, value: value, readTrace: readTrace)
            }
        }
        if seen.contains("rate"), seen.contains("trace") { throw .conflictingKeys("rate", "trace") }
        if let burst, case .bernoulli(let loss) = self.loss {
            self.loss = .gilbertElliott(LossModel.GilbertElliott(loss: loss, burstLength: burst))
        }
    }

    private mutating func apply(
        key: String, value: String, readTrace: (String) throws(LinkProfileError) -> String
    ) throws(LinkProfileError) {
        func parsed<Value>(_ result: Value?, expected: String) throws(LinkProfileError) -> Value {
            guard let result else { throw .invalidValue(key: key, value: value, expected: expected) }
            return result
        }
        let time = "a time such as 40ms or 1.5s"
        switch key {
        case "rate":
            rate = try parsed(
                Self.linkRate(value), expected: "a rate such as 500k, 2.5M or unlimited, or steps such as 2M/500k@20s")
        case "trace":
            let path = try parsed(value.isEmpty ? nil : value, expected: "the path of a file")
            rate = try LinkRate(parsingTrace: try readTrace(path))
        case "delay": delay = try parsed(Self.duration(value), expected: time)
        case "jitter": jitter = try parsed(Self.duration(value), expected: time)
        case "reorder": reorders = try parsed(Self.boolean(value), expected: "yes or no")
        case "loss":
            loss = .bernoulli(
                try parsed(Self.probability(value), expected: "a part such as 1% or 0.01, at most 100%"))
        case "queue":
            queue = try parsed(
                Self.queueLimit(value), expected: "a time such as 300ms, a size such as 64kB, or packets such as 1000p")
        case "packets":
            maximumPackets = try parsed(
                Int(value).flatMap { (1...1_000_000).contains($0) ? $0 : nil }, expected: "a number of packets")
        case "aqm":
            discipline = try parsed(QueueDiscipline(rawValue: value), expected: "drop-tail, codel, fq-codel or dualpi2")
        case "policer":
            policer = try parsed(Self.policer(value), expected: "a rate and a burst such as 1M/32kB")
        default: throw .unknownKey(key)
        }
    }

    private static func linkRate(_ value: String) -> LinkRate? {
        if value == "unlimited" { return .unlimited }
        if let rate = bitRate(value) { return rate > .zero ? .fixed(rate) : nil }
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        var steps: [LinkRate.Step] = []
        for part in parts {
            let halves = part.split(separator: "@", omittingEmptySubsequences: false)
            guard halves.count <= 2, let rate = bitRate(halves[0]) else { return nil }
            let time = halves.count == 2 ? duration(halves[1]) : steps.isEmpty ? .zero : nil
            guard let time, time >= steps.last?.time ?? .zero else { return nil }
            steps.append(LinkRate.Step(at: time, rate: rate))
        }
        return .steps(steps)
    }

    /// Rates, in bits per second, and sizes, in bytes, are no larger: sums of larger ones would overflow.
    private static let largest = 1e12

    /// Parses a rate such as `500k`, `2.5M`, `64000` or `800kbit/s`; nil if invalid, or above 1 Tbit/s.
    public static func bitRate(_ text: some StringProtocol) -> BitRate? {
        let units: [(String, Double)] = [
            ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1), ("M", 1e6), ("m", 1e6), ("k", 1e3), ("K", 1e3), ("", 1),
        ]
        return quantity(text, units: units).flatMap { $0 <= largest ? BitRate(bitsPerSecond: $0) : nil }
    }

    /// Parses a time such as `40ms`, `1.5s`, `250us` or `2min`; nil if invalid.
    public static func duration(_ text: some StringProtocol) -> Duration? {
        let units: [(String, Double)] = [("ms", 1e6), ("us", 1e3), ("min", 60e9), ("s", 1e9)]
        guard let nanoseconds = quantity(text, units: units), nanoseconds <= 86_400e9 else {
            return text == "0" ? .zero : nil
        }
        return .nanoseconds(Int64(clamping: nanoseconds))
    }

    /// Parses a probability such as `1%` or `0.01`; nil if invalid, or above one.
    public static func probability(_ text: some StringProtocol) -> Double? {
        guard let value = quantity(text, units: [("%", 0.01), ("", 1)]), value <= 1 else { return nil }
        return value
    }

    /// Parses a queue's limit such as `300ms`, `64kB` or `1000p`; nil if invalid.
    public static func queueLimit(_ text: some StringProtocol) -> QueueLimit? {
        if let duration = duration(text) { return .duration(duration) }
        if let packets = quantity(text, units: [("p", 1)]), packets >= 1, packets <= 1e6 {
            return .packets(Int(clamping: packets))
        }
        return dataSize(text).map { .size($0) }
    }

    /// Parses a size such as `64kB`, of at least a byte; nil if invalid, or above 1 TB.
    public static func dataSize(_ text: some StringProtocol) -> DataSize? {
        guard let bytes = quantity(text, units: [("kB", 1e3), ("MB", 1e6), ("B", 1)]), bytes >= 1, bytes <= largest
        else { return nil }
        return DataSize(bytes: bytes)
    }

    private static func policer(_ text: String) -> Policer? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let rate = bitRate(parts[0]), rate > .zero, let burst = dataSize(parts[1]) else {
            return nil
        }
        return Policer(rate: rate, burst: burst)
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text {
        case "yes", "true", "": true
        case "no", "false": false
        default: nil
        }
    }

    /// Parses a number of at least zero with one of the units, and multiplies it by the unit's factor.
    private static func quantity(_ text: some StringProtocol, units: [(String, Double)]) -> Double? {
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)) else { continue }
            guard number.isFinite, number >= 0 else { return nil }
            return number * factor
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}

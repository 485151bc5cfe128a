import LinkEmulation
import MediaCore

/// Takes the values of a mapping one after another, and reports keys that were not taken.
struct MappingReader {
    let node: ScenarioNode
    /// The name of the mapping for messages, such as "a link".
    let subject: String
    private var entries: [ScenarioNode.Entry]
    private var known: [String] = []

    init(_ node: ScenarioNode, subject: String) throws(ScenarioError) {
        guard case .mapping(let entries) = node.content else {
            throw node.error("\(subject) is a mapping of keys and values")
        }
        self.node = node
        self.subject = subject
        self.entries = entries
    }

    /// The entries that were not taken.
    var rest: [ScenarioNode.Entry] { entries }

    mutating func take(_ key: String) -> ScenarioNode? {
        known.append(key)
        guard let place = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: place)
        if case .null = entry.value.content { return nil }
        // A value from an extended file keeps the place where it was written.
        return entry.value
    }

    /// Checks that all keys were taken, and throws otherwise. Call it last.
    func finish() throws(ScenarioError) {
        guard let entry = entries.first else { return }
        throw ScenarioError(
            file: entry.value.file, line: entry.line,
            reason: "\(subject) has no '\(entry.key)'; it takes \(known.sorted().joined(separator: ", "))")
    }

    // MARK: Values

    /// Takes and parses the value of a key; nil if there is none.
    mutating func value<Value>(
        _ key: String, expected: String, _ parse: (String) -> Value?
    ) throws(ScenarioError) -> Value? {
        guard let node = take(key) else { return nil }
        return try node.value(key, expected: expected, parse)
    }

    mutating func text(_ key: String) throws(ScenarioError) -> String? {
        try value(key, expected: "a text") { $0 }
    }

    mutating func rate(_ key: String) throws(ScenarioError) -> BitRate? {
        try value(key, expected: Expected.rate) { LinkProfile.bitRate($0) }
    }

    mutating func duration(_ key: String) throws(ScenarioError) -> Duration? {
        try value(key, expected: Expected.time) { LinkProfile.duration($0) }
    }

    mutating func size(_ key: String) throws(ScenarioError) -> DataSize? {
        try value(key, expected: "a size such as 1200B or 64kB") { LinkProfile.dataSize($0) }
    }

    mutating func probability(_ key: String) throws(ScenarioError) -> Double? {
        try value(key, expected: Expected.part) { LinkProfile.probability($0) }
    }

    mutating func boolean(_ key: String) throws(ScenarioError) -> Bool? {
        try value(key, expected: "yes or no") { ["yes": true, "true": true, "no": false, "false": false][$0] }
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) throws(ScenarioError) -> Int? {
        try value(key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func number(_ key: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
        try value(key, expected: "a number from \(range.lowerBound) to \(range.upperBound)") { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Takes a list of texts, or one text as a list.
    mutating func texts(_ key: String) throws(ScenarioError) -> [ScenarioNode]? {
        guard let node = take(key) else { return nil }
        if case .list(let nodes) = node.content { return nodes }
        return [node]
    }
}

/// The expected values, for error messages.
enum Expected {
    static let rate = "a rate of at least zero such as 500k or 2.5M"
    static let time = "a time of at least zero such as 40ms or 1.5s"
    static let part = "a part from 0 to 100% such as 1% or 0.01"
}

extension ScenarioNode {
    /// Parses the text of a scalar.
    func value<Value>(
        _ key: String, expected: String, _ parse: (String) -> Value?
    ) throws(ScenarioError) -> Value {
        guard case .scalar(let text) = content, let value = parse(text) else {
            var shown = "'\(key)' is not understood"
            if case .scalar(let text) = content { shown = "'\(key): \(text)' is not understood" }
            throw error("\(shown); expected \(expected)")
        }
        return value
    }

    /// Reads the elements of a list. Each is a mapping with a time `at` that is later than the preceding one.
    func timeline(
        _ key: String, until end: Duration,
        _ read: (Duration, inout MappingReader) throws(ScenarioError) -> Void
    ) throws(ScenarioError) {
        guard case .list(let nodes) = content else { throw error("'\(key)' is a list") }
        var last: Duration?
        for node in nodes {
            var reader = try MappingReader(node, subject: "an element of '\(key)'")
            guard let time = try reader.duration("at") else { throw node.error("an element of '\(key)' needs 'at'") }
            if let last, time <= last {
                throw node.error(
                    """
                    '\(key)' overlap: \(time.shown) does not come after \(last.shown); give them in the order of \
                    their times, each time once
                    """)
            }
            guard time < end else {
                throw node.error("\(time.shown) is not before the end of the scenario at \(end.shown)")
            }
            last = time
            try read(time, &reader)
            try reader.finish()
        }
    }

    /// Reads the elements of a list of spans of time, which must not overlap.
    func spans(_ key: String, until end: Duration) throws(ScenarioError) -> [Range<Duration>] {
        guard case .list(let nodes) = content else { throw error("'\(key)' is a list of spans, each with from and to") }
        var spans: [Range<Duration>] = []
        for node in nodes {
            let span = try node.span(key, until: end)
            if let last = spans.last, span.lowerBound < last.upperBound {
                throw node.error("'\(key)' overlap: \(span.lowerBound.shown) is before \(last.upperBound.shown)")
            }
            spans.append(span)
        }
        return spans
    }

    func span(_ key: String, until end: Duration) throws(ScenarioError) -> Range<Duration> {
        var reader = try MappingReader(self, subject: "'\(key)'")
        let from = try reader.duration("from") ?? .zero
        let to = try reader.duration("to") ?? end
        try reader.finish()
        guard from < to, to <= end else {
            throw error("'\(key)' from \(from.shown) to \(to.shown) is no span before the end at \(end.shown)")
        }
        return from..<to
    }
}

extension Duration {
    /// The duration in seconds, for messages.
    var shown: String { "\(seconds)s" }
}

import NIOCore
import Synchronization

/// Stores the results of an encoder's passes over a recording for the next pass.
///
/// With a path they are in a file: another process can continue after the last one, even in the middle of a pass (with
/// the first unfinished group of pictures). Without a path they are in a temporary file that is removed with the
/// storage. A storage belongs to one recording, encoded with one set of properties; any other use throws an error.
public final class MultiPassStorage: Sendable {
    private let state: Mutex<State>

    /// Makes a storage, or opens the one at `path`.
    public init(path: String? = nil) throws(MultiPassError) {
        state = Mutex(try State(path: path))
    }

    public var completedPasses: Int { state.withLock { $0.analysis.pass - 1 } }

    /// Writes everything out and closes the file; a temporary one is gone then.
    public func close() throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.close() }
    }

    /// Closes the storage and removes its file.
    public func remove() throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.remove() }
    }

    var analysis: MultiPassAnalysis { state.withLock { $0.analysis } }

    /// Makes sure that the storage is of passes with these properties (`name=value`), or makes it so when it is new.
    func claim(_ fingerprint: [String]) throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.claim(fingerprint) }
    }

    /// Takes a group of the first pass in.
    func append(_ group: MultiPassAnalysis.Group) throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.append(group) }
    }

    /// Takes another encode of a group in.
    func append(_ measurement: PassMeasurement, group: Int) throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.append(measurement, group: group) }
    }

    /// Ends the pass, and sets the requests of the next one.
    func endPass(requesting requests: [PassPlanner.Request]) throws(MultiPassError) {
        try state.withLock { state throws(MultiPassError) in try state.endPass(requesting: requests) }
    }
}

extension MultiPassStorage: Hashable {
    public static func == (left: MultiPassStorage, right: MultiPassStorage) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension MultiPassStorage {
    private struct State {
        var analysis = MultiPassAnalysis()
        private let log: RecordLog
        private var fingerprint: [String]?
        private var isClosed = false

        private static let kind = RecordLog.Kind(signature: "H264PASS", name: "multi-pass storage")

        init(path: String?) throws(MultiPassError) {
            let log = try RecordLog(path: path, kind: Self.kind)
            self.log = log
            var analysis = MultiPassAnalysis()
            var fingerprint: [String]?
            try log.scan { record throws(MultiPassError) in
                let body = try log.body(of: record.reference)
                let isSensible =
                    switch AnalysisRecord(tag: record.tag, head: record.head, body: body) {
                    case .settings(let lines):
                        fingerprint == nil ? Self.set(&fingerprint, to: lines) : false
                    case .group(let group):
                        analysis.pending == nil && group.firstNumber == analysis.frameCount
                            ? Self.add(group, to: &analysis) : false
                    case .measurement(let measurement, let group): analysis.append(measurement, group: group)
                    case .passEnd(let requests): analysis.endPass(requesting: requests)
                    case nil: false
                    }
                guard isSensible else {
                    throw log.corruption(of: record.reference, reason: "a record makes no sense")
                }
            }
            self.analysis = analysis
            self.fingerprint = fingerprint
        }

        private static func set(_ fingerprint: inout [String]?, to lines: [String]) -> Bool {
            fingerprint = lines
            return true
        }

        private static func add(_ group: MultiPassAnalysis.Group, to analysis: inout MultiPassAnalysis) -> Bool {
            analysis.append(group)
            return true
        }

        mutating func claim(_ lines: [String]) throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            guard let fingerprint else {
                try write(.settings(lines))
                fingerprint = lines
                return
            }
            for (stored, given) in zip(fingerprint, lines) where stored != given {
                let (name, value) = Self.split(given)
                throw .mismatch(property: name, stored: Self.split(stored).value, given: value)
            }
            guard fingerprint.count == lines.count else {
                throw .mismatch(
                    property: "number of properties", stored: "\(fingerprint.count)", given: "\(lines.count)")
            }
        }

        private static func split(_ line: String) -> (name: String, value: String) {
            guard let index = line.firstIndex(of: "=") else { return (line, "") }
            return (String(line[..<index]), String(line[line.index(after: index)...]))
        }

        mutating func append(_ group: MultiPassAnalysis.Group) throws(MultiPassError) {
            try write(.group(group))
            analysis.append(group)
        }

        mutating func append(_ measurement: PassMeasurement, group: Int) throws(MultiPassError) {
            try write(.measurement(measurement, group: group))
            _ = analysis.append(measurement, group: group)
        }

        mutating func endPass(requesting requests: [PassPlanner.Request]) throws(MultiPassError) {
            try write(.passEnd(requests))
            try log.synchronize()
            _ = analysis.endPass(requesting: requests)
        }

        private func write(_ record: AnalysisRecord) throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            let (tag, head, body) = record.encoded
            _ = try log.append(tag: tag, head: head, body: body)
        }

        mutating func close() throws(MultiPassError) {
            guard !isClosed else { return }
            try log.synchronize()
            log.close()
            isClosed = true
        }

        mutating func remove() throws(MultiPassError) {
            guard !isClosed else { throw .closed }
            isClosed = true
            try log.remove()
        }
    }
}

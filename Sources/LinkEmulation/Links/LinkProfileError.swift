/// An error in the description of a link.
public enum LinkProfileError: Error, Hashable, Sendable {
    case unknownKey(String)
    /// A key given twice.
    case repeatedKey(String)
    /// Two keys that exclude each other.
    case conflictingKeys(String, String)
    case invalidValue(key: String, value: String, expected: String)
    /// A trace that could not be read.
    case unreadableTrace(path: String, reason: String)
    /// A trace with a syntax error.
    case invalidTrace(line: Int, reason: String)
    /// A table of rates with a syntax error.
    case invalidRateTable(line: Int, reason: String)
}

extension LinkProfileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownKey(let key):
            """
            a link has no '\(key)'; it takes rate, trace, delay, jitter, reorder, loss, burst, queue, packets, aqm \
            and policer
            """
        case .repeatedKey(let key): "'\(key)' is given twice; give it once"
        case .conflictingKeys(let one, let other): "'\(one)' and '\(other)' exclude each other; give one of them"
        case .invalidValue(let key, let value, let expected):
            "'\(key)=\(value)' is not understood; expected \(expected)"
        case .unreadableTrace(let path, let reason): "cannot read the trace '\(path)': \(reason)"
        case .invalidTrace(let line, let reason):
            "line \(line) of the trace: \(reason); a trace has one time in ms a line, ascending"
        case .invalidRateTable(let line, let reason):
            "line \(line) of the table: \(reason); a table has a time in seconds and a rate in Mbit/s a line, ascending"
        }
    }
}

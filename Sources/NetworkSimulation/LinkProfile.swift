/// What a link does to packets: delivers them at a rate from a bounded queue, after a delay, but for those it loses.
public struct LinkProfile: Hashable, Sendable {
    public var rate: LinkRate
    /// The propagation delay, after the queue.
    public var delay: Duration
    /// The delay of each packet grows by a random part of this.
    public var jitter: Duration
    /// Whether jitter may let packets overtake each other.
    public var reorders: Bool
    /// The probability that a packet is lost, before the queue.
    public var loss: Double
    public var queue: QueueLimit

    public init(
        rate: LinkRate = .unlimited, delay: Duration = .zero, jitter: Duration = .zero, reorders: Bool = false,
        loss: Double = 0, queue: QueueLimit = .duration(.milliseconds(300))
    ) {
        self.rate = rate
        self.delay = delay
        self.jitter = jitter
        self.reorders = reorders
        self.loss = loss
        self.queue = queue
    }
}

/// What is wrong with the description of a link.
public enum LinkProfileError: Error, Hashable, Sendable {
    /// A key that there is not.
    case unknownKey(String)
    /// A key given twice.
    case repeatedKey(String)
    /// Two keys that exclude each other.
    case conflictingKeys(String, String)
    /// A value that its key does not take.
    case invalidValue(key: String, value: String, expected: String)
    /// A trace that could not be read.
    case unreadableTrace(path: String, reason: String)
    /// A trace that is none.
    case invalidTrace(line: Int, reason: String)
}

extension LinkProfileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownKey(let key):
            "a link has no '\(key)'; it takes rate, trace, delay, jitter, reorder, loss and queue"
        case .repeatedKey(let key): "'\(key)' is given twice; give it once"
        case .conflictingKeys(let one, let other): "'\(one)' and '\(other)' exclude each other; give one of them"
        case .invalidValue(let key, let value, let expected):
            "'\(key)=\(value)' is not understood; expected \(expected)"
        case .unreadableTrace(let path, let reason): "cannot read the trace '\(path)': \(reason)"
        case .invalidTrace(let line, let reason):
            "line \(line) of the trace: \(reason); a trace has one time in ms a line, ascending"
        }
    }
}

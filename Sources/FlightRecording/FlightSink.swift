/// A destination for the bytes of a recording.
public protocol FlightSink: AnyObject, Sendable {
    /// Takes a whole record. If there is no room it takes nothing and returns false; then no further record is offered.
    func append(_ record: [UInt8]) -> Bool
    /// Counts a record that was not offered, because an earlier one was not taken.
    func recordLost()
    /// Called after the last record was offered.
    func close()
}

/// Keeps a recording in memory, for tests and simulations.
///
/// `@unchecked Sendable` holds because a recording is made by one controller, which is used from one place at a time,
/// and is read only after it was closed.
public final class FlightMemory: FlightSink, @unchecked Sendable {
    public private(set) var bytes: [UInt8] = []
    public private(set) var isClosed = false

    public init() {}

    public func append(_ record: [UInt8]) -> Bool {
        bytes.append(contentsOf: record)
        return true
    }

    public func recordLost() {}

    public func close() {
        isClosed = true
    }
}

/// Where the bytes of a recording go.
public protocol FlightSink: AnyObject, Sendable {
    /// Takes a whole record, or nothing of it when there is no room; then it is offered nothing more.
    func append(_ record: [UInt8]) -> Bool
    /// A record was not taken, nor offered, since one before was not taken.
    func recordLost()
    /// The last record was offered.
    func close()
}

/// Keeps a recording in memory, for tests and simulations.
///
/// `@unchecked Sendable` holds because a recording is made by one controller, which is used from one place at a time,
/// and read after it was closed.
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

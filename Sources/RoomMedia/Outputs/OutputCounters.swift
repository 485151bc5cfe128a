public import RoomAPI

/// The figures of all outputs of a relay since it started.
public struct OutputCounters: Sendable {
    /// Outputs that go on, by what they do now.
    public var states: [OutputStatus.State: Int] = [:]
    /// The bytes that were sent.
    public var bytes: Int64 = 0
    /// Pictures that were not sent, because servers took too little.
    public var framesDropped = 0
    /// Connections of outputs after their first.
    public var reconnects = 0

    public init() {}

    package mutating func add(_ thread: OutputThread) {
        bytes += thread.bytes
        framesDropped += thread.queue.framesDropped
        reconnects += thread.reconnects
    }
}

/// Tells a sender whose numbers begin again from late packets: by packets in order, all below the numbers that are
/// remembered, without another between.
struct RestartRun: Sendable {
    /// The number of packets that show it.
    private static let shownLength = 16

    /// The number that would continue the run.
    private var next: UInt16 = 0
    private var length = 0

    /// A packet continues the stream.
    mutating func end() { length = 0 }

    /// Takes a packet below those that are remembered. Returns true if the sender has begun again.
    mutating func isRestart(_ sequence: UInt16) -> Bool {
        length = length > 0 && sequence == next ? length + 1 : 1
        next = sequence &+ 1
        return length >= Self.shownLength
    }
}

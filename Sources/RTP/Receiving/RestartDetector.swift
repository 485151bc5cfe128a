import MediaCore

/// Distinguishes late packets from those of a sender that restarted at a lower sequence number.
struct RestartDetector: Sendable {
    /// Packets this far behind are not late, but of another stream.
    private static let maximumMisorder: Int64 = 1024
    /// This many consecutive packets behind, while nothing else comes, are another stream too.
    private static let minimumRunLength = 16

    private var expected: UInt16 = 0
    private var runLength = 0
    private var lastContinuation = MonotonicInstant.zero

    /// A packet came that continues the stream.
    mutating func streamContinued(now: MonotonicInstant) {
        runLength = 0
        lastContinuation = now
    }

    /// Returns true if a packet `distanceBehind` the packets that were handed out shows that the sender restarted.
    mutating func isRestart(
        _ sequenceNumber: UInt16, distanceBehind: Int64, configuration: JitterBuffer.Configuration,
        now: MonotonicInstant
    ) -> Bool {
        if distanceBehind > max(Self.maximumMisorder, Int64(configuration.capacity)) { return true }
        runLength = sequenceNumber == expected ? runLength + 1 : 1
        expected = sequenceNumber &+ 1
        return runLength >= Self.minimumRunLength && now - lastContinuation > configuration.maximumDelay
    }
}

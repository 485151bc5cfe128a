import MediaCore

/// Distinguishes late packets from those of a sender that restarted at a lower sequence number.
struct RestartDetector: Sendable {
    /// The distance from which packets that are behind belong to another stream and are not late.
    private static let maximumMisorder: Int64 = 1024
    /// The number of consecutive packets behind, with no others in between, that also show another stream.
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

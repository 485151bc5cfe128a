package import MediaCore

/// When a source's frame passed the stages up to its picture.
package struct SourceFrameTimes: Sendable {
    package var source: SourceID
    /// Tells the source's pictures apart.
    package var number: UInt64
    /// When its last packet came.
    package var received: MonotonicInstant
    /// When it left the jitter buffer.
    var assembled: MonotonicInstant
    var decodeStarted: MonotonicInstant
    /// When its picture, and that of all frames that were decoded with it, was there.
    package var decoded: MonotonicInstant

    package init(
        source: SourceID, number: UInt64, received: MonotonicInstant, assembled: MonotonicInstant,
        decodeStarted: MonotonicInstant, decoded: MonotonicInstant
    ) {
        self.source = source
        self.number = number
        self.received = received
        self.assembled = assembled
        self.decodeStarted = decodeStarted
        self.decoded = decoded
    }
}

package import MediaCore
package import RTP

/// The times of a source's frame at the stages up to its picture.
package struct SourceFrameTimes: Sendable {
    package var source: SourceID
    /// A number that identifies the source's picture.
    package var number: UInt64
    /// The arrival of its last packet.
    package var received: MonotonicInstant
    /// The time at which it left the jitter buffer.
    var assembled: MonotonicInstant
    var decodeStarted: MonotonicInstant
    /// The time at which its picture, and those of all frames decoded with it, was there.
    package var decoded: MonotonicInstant
    /// The time of capture on the sender's wall clock; nil before the first sender report.
    package var senderTime: NTPTime?

    package init(
        source: SourceID, number: UInt64, received: MonotonicInstant, assembled: MonotonicInstant,
        decodeStarted: MonotonicInstant, decoded: MonotonicInstant, senderTime: NTPTime? = nil
    ) {
        self.source = source
        self.number = number
        self.received = received
        self.assembled = assembled
        self.decodeStarted = decodeStarted
        self.decoded = decoded
        self.senderTime = senderTime
    }
}

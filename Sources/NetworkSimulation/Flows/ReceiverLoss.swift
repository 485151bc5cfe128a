import MediaCore
import RTP

/// What a receiver report says: the fraction lost since the one before (RFC 3550, A.3), and what a round-trip time is
/// computed from.
struct ReceiverLoss: Sendable {
    private var unwrapper = SequenceUnwrapper()
    private var highest: Int64?
    private var reportedUpTo: Int64 = 0
    private var receivedSinceReport = 0
    private var newest: (sent: MonotonicInstant, received: MonotonicInstant)?

    mutating func received(_ sequence: UInt16, sendTime: MonotonicInstant, now: MonotonicInstant) {
        let unwrapped = unwrapper.unwrap(sequence)
        if highest == nil { reportedUpTo = unwrapped - 1 }
        highest = max(highest ?? unwrapped, unwrapped)
        receivedSinceReport += 1
        newest = (sendTime, now)
    }

    /// The report since the last one; nil when nothing new was expected.
    mutating func makeReport(
        now: MonotonicInstant
    ) -> (fractionLost: Double, newestSent: MonotonicInstant, held: Duration)? {
        guard let highest, let newest, highest > reportedUpTo else { return nil }
        let expected = Int(highest - reportedUpTo)
        let lost = max(expected - receivedSinceReport, 0)
        reportedUpTo = highest
        receivedSinceReport = 0
        return (Double(lost) / Double(expected), newest.sent, now - newest.received)
    }
}

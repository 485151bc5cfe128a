import MediaCore
import NIOCore
import SecureTransport

/// Notices for the log that have not been taken yet. Bounded: the oldest are dropped.
struct RelayNoticeLog {
    private static let capacity = 1024
    /// The time between two notices of packets that fail authentication, because anybody can send those.
    private static let failureInterval = Duration.seconds(10)

    private var notices = CircularBuffer<RelayNotice>()
    private var failures: UInt64 = 0
    private var lastFailure: TransportAddress?
    private var nextFailureNotice: MonotonicInstant

    init(now: MonotonicInstant) { nextFailureNotice = now }

    mutating func append(_ notice: RelayNotice) {
        if notices.count == Self.capacity { notices.removeFirst() }
        notices.append(notice)
    }

    /// A packet failed authentication.
    mutating func recordFailure(from source: TransportAddress) {
        failures &+= 1
        lastFailure = source
    }

    /// Reports the packets that failed authentication, if a report is due.
    mutating func tellFailures(now: MonotonicInstant) {
        guard let lastFailure, now >= nextFailureNotice else { return }
        append(.authenticationFailed(packets: failures, last: lastFailure.unmapped))
        (failures, self.lastFailure) = (0, nil)
        nextFailureNotice = now + Self.failureInterval
    }

    mutating func popFirst() -> RelayNotice? { notices.popFirst() }
}

internal import MediaCore
internal import NIOCore

/// A check under way: one STUN transaction with its retransmissions (RFC 8489, section 6.2.1).
struct ICECheck: Sendable {
    let id: STUNTransactionID
    let datagram: ByteBuffer
    /// True if the check nominates the pair when it succeeds.
    let nominates: Bool
    /// The time to send again, or to give up after the last time.
    private(set) var deadline: MonotonicInstant
    private var remaining: Int
    private var timeout: Duration
    private let finalTimeout: Duration

    /// Makes a check that is sent now.
    /// - Parameters:
    ///   - timeout: The time before it is sent again; doubled each time.
    ///   - transmissionLimit: The number of transmissions.
    init(
        id: STUNTransactionID, datagram: ByteBuffer, nominates: Bool, timeout: Duration, transmissionLimit: Int,
        now: MonotonicInstant
    ) {
        self.id = id
        self.datagram = datagram
        self.nominates = nominates
        self.timeout = timeout
        remaining = transmissionLimit - 1
        finalTimeout = timeout * ICETiming.finalTimeouts
        deadline = now + (remaining > 0 ? timeout : finalTimeout)
    }

    /// Records that the check is sent once more.
    /// - Returns: False if it was sent as often as allowed: it failed.
    mutating func retransmit(now: MonotonicInstant) -> Bool {
        guard remaining > 0 else { return false }
        remaining -= 1
        timeout = timeout * 2
        deadline = now + (remaining > 0 ? timeout : finalTimeout)
        return true
    }
}

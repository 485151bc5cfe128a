/// Limits the number of simultaneous DTLS handshakes, per host and in all, and thereby the memory of half-open ones.
///
/// Ask with the datagram that would begin a handshake, and make a connection only if it is admitted. Release the
/// session when the connection is established, has failed (at the latest after `DTLSConnection.handshakeTimeout`) or is
/// dropped. A refused session loses a datagram, and asks again with the next ClientHello.
public struct HandshakeGate<SessionID: Hashable & Sendable>: Sendable {
    /// The largest number of simultaneous handshakes of one host. Many participants may share an address behind one
    /// router.
    public let maximumCountPerHost: Int
    /// Handshakes at once.
    public let maximumCount: Int
    /// Datagrams that would have begun a handshake too many.
    public private(set) var refusedCount: UInt64 = 0

    private var hosts: [SessionID: ClientNetwork] = [:]
    private var counts: [ClientNetwork: Int] = [:]

    public init(maximumCountPerHost: Int = 64, maximumCount: Int = 256) {
        self.maximumCountPerHost = maximumCountPerHost
        self.maximumCount = maximumCount
    }

    /// Handshakes under way.
    public var count: Int { hosts.count }

    /// Returns true if `session` may begin a handshake with `address`, or already performs one.
    public mutating func admit(_ session: SessionID, from address: TransportAddress) -> Bool {
        guard hosts[session] == nil else { return true }
        let host = ClientNetwork(address)
        let hostCount = counts[host, default: 0]
        guard hosts.count < maximumCount, hostCount < maximumCountPerHost else {
            refusedCount += 1
            return false
        }
        hosts[session] = host
        counts[host] = hostCount + 1
        return true
    }

    /// Records the end of `session`'s handshake. It has no effect on other sessions.
    public mutating func release(_ session: SessionID) {
        guard let host = hosts.removeValue(forKey: session), let count = counts[host] else { return }
        counts[host] = count > 1 ? count - 1 : nil
    }
}

import MediaCore
import SecureTransport

/// The times and addresses of the last authenticated packets from the remote side.
struct RemotePresence {
    private let silenceLimit: Duration?
    /// The arrival of the last authenticated packet; nil before the first.
    private(set) var lastAuthenticated: MonotonicInstant?
    /// The addresses from which packets last authenticated, the newest last, if the descriptions carry the keys.
    private var provedAddresses: [TransportAddress] = []
    /// True if nothing is sent, because the remote side has been silent for the limit.
    private(set) var isPaused = false

    /// Without a packet for this time, an address may be another's by now. RTCP comes every five seconds, or up to half
    /// as much later (RFC 3550, section 6.3.1).
    private static let addressLifetime = Duration.milliseconds(7500)
    /// RTP and RTCP of a few streams, before and after a change of network.
    private static let maximumProvedAddresses = 8

    /// - Parameter silenceLimit: The time without an authentic packet after which nothing is sent; nil to send in any
    ///   case.
    init(silenceLimit: Duration?) {
        self.silenceLimit = silenceLimit
    }

    /// A packet authenticated. Returns true if that ends a pause.
    mutating func authenticated(now: MonotonicInstant) -> Bool {
        lastAuthenticated = now
        guard isPaused else { return false }
        isPaused = false
        return true
    }

    /// A packet from this address authenticated.
    mutating func proved(_ address: TransportAddress) {
        guard provedAddresses.last != address else { return }
        provedAddresses.removeAll { $0 == address }
        if provedAddresses.count == Self.maximumProvedAddresses { provedAddresses.removeFirst() }
        provedAddresses.append(address)
    }

    /// Returns true if packets have authenticated from this address lately. A participant can forge the source address
    /// of packets that it authenticates with its own keys; this must not move another participant's address to it.
    func hasProvedLately(_ address: TransportAddress, now: MonotonicInstant) -> Bool {
        guard let lastAuthenticated, now - lastAuthenticated < Self.addressLifetime else { return false }
        return provedAddresses.contains(address)
    }

    /// Begins a pause if the remote side, which has been heard before, has been silent for the limit: another host may
    /// have the address by now, and it did not ask for our packets. Returns true if it begins now.
    mutating func pauseIfSilent(now: MonotonicInstant) -> Bool {
        guard !isPaused, let silenceLimit, let lastAuthenticated, now - lastAuthenticated >= silenceLimit else {
            return false
        }
        isPaused = true
        return true
    }
}

/// A transport address at which one side may be reached (RFC 8445, section 5.1). UDP only: parsing skips the others.
public struct ICECandidate: Hashable, Sendable {
    /// The origin of a candidate.
    public enum Kind: String, Sendable {
        /// An interface's own address.
        case host
        /// The address that a STUN server saw.
        case serverReflexive = "srflx"
        /// The address that the other side's check saw.
        case peerReflexive = "prflx"
        /// A TURN server's address.
        case relayed = "relay"
    }

    /// 1 to 32 `ice-char`s; the same for candidates of one kind, base and server.
    public var foundation: String
    /// The component: 1 for RTP, 2 for RTCP with a port of its own.
    public var component: UInt16
    public var priority: UInt32
    public var address: TransportAddress
    public var kind: Kind

    public init(
        foundation: String, component: UInt16 = 1, priority: UInt32, address: TransportAddress, kind: Kind = .host
    ) {
        self.foundation = foundation
        self.component = component
        self.priority = priority
        self.address = address
        self.kind = kind
    }
}

extension ICECandidate {
    /// One host candidate for each address, the first with the highest priority (RFC 8445, section 5.1.2.1).
    public static func hostCandidates(_ addresses: [TransportAddress]) -> [ICECandidate] {
        addresses.enumerated().map { index, address in
            ICECandidate(
                foundation: String(index + 1), priority: priority(.host, localPreference: 65_535 - index),
                address: address.unmapped)
        }
    }

    /// The priority that RFC 8445, section 5.1.2.1 recommends.
    /// - Parameter localPreference: 0 to 65535, unique among one side's candidates.
    public static func priority(_ kind: Kind, localPreference: Int) -> UInt32 {
        let typePreference: UInt32 =
            switch kind {
            case .host: 126
            case .peerReflexive: 110
            case .serverReflexive: 100
            case .relayed: 0
            }
        // The component is 1: RTCP goes with RTP.
        return typePreference << 24 | UInt32(min(max(localPreference, 0), 65_535)) << 8 | 255
    }
}

/// A transport address at which one side may be reached (RFC 8445, section 5.1). UDP only: the others are skipped
/// where they are parsed.
public struct ICECandidate: Hashable, Sendable {
    /// Where a candidate comes from.
    public enum Kind: String, Sendable {
        /// An interface's own address.
        case host
        /// What a STUN server saw.
        case serverReflexive = "srflx"
        /// What the other side's check saw.
        case peerReflexive = "prflx"
        /// A TURN server's address.
        case relayed = "relay"
    }

    /// 1 to 32 `ice-char`s; the same for candidates of one kind, base and server.
    public var foundation: String
    /// 1 for RTP, 2 for RTCP where that has a port of its own.
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

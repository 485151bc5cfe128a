/// The key material of both directions of a transport, as one side sees it.
public struct SRTPKeyPair: Hashable, Sendable {
    /// The key of the remote side's packets.
    public var inbound: SRTPKeyMaterial
    /// The key of the local side's packets.
    public var outbound: SRTPKeyMaterial

    public init(inbound: SRTPKeyMaterial, outbound: SRTPKeyMaterial) {
        self.inbound = inbound
        self.outbound = outbound
    }
}

/// The key material of both directions of a transport, as one side sees it.
public struct SRTPKeyPair: Hashable, Sendable {
    /// What the remote side protects with.
    public var inbound: SRTPKeyMaterial
    /// What the local side protects with.
    public var outbound: SRTPKeyMaterial

    public init(inbound: SRTPKeyMaterial, outbound: SRTPKeyMaterial) {
        self.inbound = inbound
        self.outbound = outbound
    }
}

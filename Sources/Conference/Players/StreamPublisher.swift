public import RoomAPI
public import SecureTransport

/// The client that pushes a stream to the relay.
public struct StreamPublisher: Hashable, Sendable {
    /// The publisher's role and permissions.
    public var grants: MemberGrants
    /// The address from which the stream comes; nil if it is not known.
    public var client: TransportAddress?

    public init(grants: MemberGrants, client: TransportAddress?) {
        self.grants = grants
        self.client = client
    }
}

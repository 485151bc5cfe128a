public import RoomAPI
public import SecureTransport

/// The state that decides whether a request may enter a room or act in it.
public struct RoomAccess: Sendable {
    /// The verifier of the PIN; nil: there is none.
    public var pin: [UInt8]?
    /// True if a lock or a lobby keeps people out.
    public var hasLockOrLobby = false
    /// The digest of the key that moderates the room; nil: there is none.
    public var moderatorKey: [UInt8]?
    /// The member that was asked about; nil: it is not in the room.
    public var member: Member?

    /// A member as far as its rights go.
    public struct Member: Sendable {
        public var name: String
        public var grants: MemberGrants
    }
}

extension Relay {
    /// The state that decides whether a request may act in a room; nil if there is no such room.
    ///
    /// - Parameter publicID: The member whose rights are wanted.
    public func access(ofRoom id: String, participant publicID: String?) -> RoomAccess? {
        guard let room = rooms[id] else { return nil }
        let member = publicID.flatMap { room.localParticipant(publicID: $0) }
        let conditions = room.door.conditions
        return RoomAccess(
            pin: conditions.pin, hasLockOrLobby: conditions.isLocked || conditions.hasLobby,
            moderatorKey: conditions.moderatorKey,
            member: member.map { RoomAccess.Member(name: $0.name, grants: $0.grants) })
    }

    /// True if a moderator removed the bearer of a token with these grants from a room: what happens there is not for
    /// them any more.
    public func keepsOut(_ grants: MemberGrants, client: TransportAddress?, ofRoom id: String) -> Bool {
        guard let room = rooms[id], room.door.isKeptOut(grants, client) else { return false }
        guard grants.identity == nil, let network = client.map(ClientNetwork.init) else { return true }
        // An address keeps out those who come from now on. It may be the token of a member who stays there.
        return !room.participants.contains { member in
            member.grants.identity == nil && member.grants.tokenName == grants.tokenName
                && member.client.map(ClientNetwork.init) == network
        }
    }
}

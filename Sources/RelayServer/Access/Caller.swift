import RoomAPI

/// The sender of a request, as far as it shows, and its permissions in the request's room.
struct Caller: Sendable {
    enum Proof: Equatable, Sendable {
        /// No proof, if none is needed.
        case nothing
        case token(AccessClaims)
        /// A session's name with its key: the caller is this member of the room.
        case session(participant: String)
        /// The key that the creator of a room was given.
        case moderatorKey
    }

    var proof: Proof
    var permissions: Set<Permission>
    /// As events name the caller; nil: nothing is known.
    var name: String?

    /// A caller without a proof on a relay without keys: its permissions are those of every caller.
    static let anonymous = Caller(
        proof: .nothing, permissions: AccessRole.presenter.permissions.union([.inspect, .record]), name: nil)

    func may(_ permission: Permission) -> Bool { permissions.contains(permission) }

    /// The caller's grants as a member of a room.
    var grants: MemberGrants {
        switch proof {
        case .token(let claims): MemberGrants(claims)
        case .moderatorKey: MemberGrants(role: .moderator)
        case .nothing, .session: .open
        }
    }

    var claims: AccessClaims? {
        if case .token(let claims) = proof { return claims }
        return nil
    }
}

/// The permission that a request needs.
enum Requirement: Equatable, Sendable {
    /// Nothing: it tells nothing of rooms.
    case none
    /// A permission in the room of the path.
    case needs(Permission)
    /// The same, but the page itself, which browsers ask for as HTML, is everybody's.
    case needsUnlessPage(Permission)
    /// A permission for all rooms.
    case needsEverywhere(Permission)
    /// The key of the session in the path.
    case ownSession
    /// The key of the session in the path, or the permission.
    case ownSessionOr(Permission)
    /// A join, which checks by itself what the endpoint takes.
    case join
    /// The key of the place in the lobby, in the path.
    case ownTicket
    /// The signature of a relay of the cluster.
    case relaySignature
}

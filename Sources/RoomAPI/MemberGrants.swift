/// A room member's role and permissions.
public struct MemberGrants: Hashable, Sendable {
    public var role: AccessRole
    public var permissions: Set<Permission>
    /// The member's identity by its token; nil: unknown.
    public var identity: String?
    /// The name in a token that has no identity; nil: it has none, or there is an identity.
    public var tokenName: String?
    /// True if other members do not see the member.
    public var isHidden: Bool

    /// - Parameter permissions: Nil: those of the role.
    public init(
        role: AccessRole, permissions: Set<Permission>? = nil, identity: String? = nil, isHidden: Bool = false
    ) {
        self.role = role
        self.permissions = permissions ?? role.permissions
        self.identity = identity
        self.isHidden = isHidden
    }

    public init(_ claims: AccessClaims) {
        self.init(
            role: claims.role, permissions: claims.permissions, identity: claims.identity, isHidden: claims.isHidden)
        if claims.identity == nil { tokenName = claims.name }
    }

    /// The grants of every member of a relay without tokens.
    public static let open = MemberGrants(role: .presenter)

    /// True if the member may send any media.
    public var mayPublish: Bool { !permissions.isDisjoint(with: [.microphone, .camera, .screen]) }
}

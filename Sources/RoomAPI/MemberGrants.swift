/// What a member of a room is and may do.
public struct MemberGrants: Hashable, Sendable {
    public var role: AccessRole
    public var permissions: Set<Permission>
    /// Who the member is, by their token; nil: nobody knows.
    public var identity: String?
    /// Whether others are not told of the member.
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
    }

    /// What everybody is where no tokens are asked for.
    public static let open = MemberGrants(role: .presenter)

    /// Whether the member may send anything.
    public var mayPublish: Bool { !permissions.isDisjoint(with: [.microphone, .camera, .screen]) }
}

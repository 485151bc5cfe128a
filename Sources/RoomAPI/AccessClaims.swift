/// A token's claims about its bearer (RFC 7519): rooms, identity, and permissions there.
public struct AccessClaims: Codable, Hashable, Sendable {
    /// The room's name, or a pattern in which `*` stands for any characters.
    public var room: String
    /// Names the bearer, whatever they are called in a room.
    public var identity: String?
    /// The bearer's name; nil: the join states it.
    public var name: String?
    public var role: AccessRole
    /// The media that the bearer may send: `microphone`, `camera`, `screen`; nil: as the role.
    public var publish: [Permission]?
    /// True if the bearer may watch; nil: as the role.
    public var watch: Bool?
    /// True if the bearer may moderate; nil: as the role.
    public var moderate: Bool?
    /// True if the bearer may record; nil: as the role.
    public var record: Bool?
    /// True if other members do not see that the bearer is there; nil: they do, unless the role is `recorder`.
    public var hidden: Bool?
    /// Seconds since 1970 (UTC) from which and until which the token is good.
    public var notBefore: Double?
    public var expiry: Double?
    /// When the token was made.
    public var issuedAt: Double?
    /// Names the token.
    public var id: String?
    /// True if the token admits one session only.
    public var isSingleUse: Bool?

    private enum CodingKeys: String, CodingKey {
        case room, name, role, publish, watch, moderate, record, hidden
        case identity = "sub"
        case notBefore = "nbf"
        case expiry = "exp"
        case issuedAt = "iat"
        case id = "jti"
        case isSingleUse = "once"
    }

    public init(room: String, role: AccessRole = .participant) {
        self.room = room
        self.role = role
    }

    /// The role's permissions, as the token changes them.
    public var permissions: Set<Permission> {
        var permissions = role.permissions
        let media: Set<Permission> = [.microphone, .camera, .screen]
        if let publish { permissions = permissions.subtracting(media).union(media.intersection(publish)) }
        for (wish, permission) in [(watch, Permission.watch), (moderate, .moderate), (record, .record)] {
            switch wish {
            case true?: permissions.insert(permission)
            case false?: permissions.remove(permission)
            case nil: break
            }
        }
        return permissions
    }

    public var isHidden: Bool { hidden ?? (role == .recorder) }

    /// True if the token is for all rooms.
    public var isForAllRooms: Bool { room == "*" }

    /// Returns true if the token is for a room.
    public func covers(room name: String) -> Bool {
        let parts = room.split(separator: "*", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return room == name }
        guard name.hasPrefix(first), name.utf8.count >= first.utf8.count + last.utf8.count, name.hasSuffix(last) else {
            return false
        }
        var rest = name.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}

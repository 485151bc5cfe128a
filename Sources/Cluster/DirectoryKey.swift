/// The keys of the directory. All begin with `/confrelay/v1/`.
public enum DirectoryKey: Hashable, Sendable {
    /// A relay; ends with its lease.
    case node(NodeID)
    /// The relay that leads a room; ends with its lease. Its create revision is the room's epoch.
    case owner(room: String)
    /// A relay that has participants of the room; ends with its lease.
    case relay(NodeID, room: String)
    /// Layout and overlays; outlive the owner by the settings' lease.
    case settings(room: String)
    /// Signs tickets and the keys of sessions; stays.
    case secret

    /// The prefix of all keys.
    public static let root = "/confrelay/v1/"

    public var path: String {
        switch self {
        case .node(let id): "\(Self.root)nodes/\(id)"
        case .owner(let room): "\(Self.root)rooms/\(room)/owner"
        case .relay(let id, let room): "\(Self.root)rooms/\(room)/relays/\(id)"
        case .settings(let room): "\(Self.root)rooms/\(room)/settings"
        case .secret: "\(Self.root)secret"
        }
    }

    /// Reads a key; nil for one of another version or program.
    public init?(path: String) {
        guard path.hasPrefix(Self.root) else { return nil }
        let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        switch (parts.first, parts.count) {
        case ("nodes", 2):
            guard let id = NodeID(rawValue: parts[1]) else { return nil }
            self = .node(id)
        case ("rooms", 3) where parts[2] == "owner": self = .owner(room: parts[1])
        case ("rooms", 3) where parts[2] == "settings": self = .settings(room: parts[1])
        case ("rooms", 4) where parts[2] == "relays":
            guard let id = NodeID(rawValue: parts[3]) else { return nil }
            self = .relay(id, room: parts[1])
        case ("secret", 1): self = .secret
        default: return nil
        }
    }
}

import Cluster
import Foundation

/// The cluster as its directory has it, for `confrelay cluster status`.
public struct ClusterStatus: Encodable, Sendable {
    /// A relay, as it has described itself last.
    public struct Relay: Encodable, Sendable {
        public var id: String
        public var url: String
        public var region: String
        public var version: String
        /// `serving` or `draining`.
        public var state: String
        /// nil: the relay does not count seats.
        public var seatsLeft: Int?
        public var participants: Int
        public var rooms: Int
    }

    /// A room of the cluster, with or without a relay that leads it.
    public struct Room: Encodable, Sendable {
        public var id: String
        /// The relay that leads it; nil: none, and its settings wait for one.
        public var owner: String?
        /// The create revision of its owner's key.
        public var epoch: Int64?
        /// All relays that have participants of it.
        public var relays: [String]
        public var hasSettings: Bool
    }

    public var relays: [Relay] = []
    public var rooms: [Room] = []

    /// Reads the whole directory.
    ///
    /// - Throws: `StartupError.clusterNotUsable`, or `ClusterStatusError` where etcd does not answer.
    public static func read(_ settings: EtcdSettings) async throws -> ClusterStatus {
        let client = try EtcdClient(settings)
        do {
            var entries: [DirectoryEntry] = []
            var next = DirectoryKey.root
            var revision: Int64?
            while true {
                switch await client.perform(.read(from: next, revision: revision)) {
                case .page(let page, let current, let hasMore):
                    entries += page
                    revision = revision ?? current
                    guard hasMore, let last = page.last else {
                        await client.close()
                        return ClusterStatus(entries)
                    }
                    next = last.path + "\0"
                case .failed(let reason): throw ClusterStatusError(reason: reason)
                default: throw ClusterStatusError(reason: "etcd gave another answer than was asked for")
                }
            }
        } catch {
            await client.close()
            throw error
        }
    }

    private init(_ entries: [DirectoryEntry]) {
        var rooms: [String: Room] = [:]
        func room(_ id: String) -> Room { rooms[id] ?? Room(id: id, relays: [], hasSettings: false) }
        for entry in entries {
            switch DirectoryKey(path: entry.path) {
            case .node(let id):
                guard let record = try? JSONDecoder().decode(NodeRecord.self, from: Data(entry.value)) else { continue }
                relays.append(Relay(id, record))
            case .owner(let id):
                var changed = room(id)
                changed.owner = (try? JSONDecoder().decode(RoomOwner.self, from: Data(entry.value)))?.node.rawValue
                changed.epoch = entry.createRevision
                rooms[id] = changed
            case .relay(let node, let id):
                var changed = room(id)
                changed.relays.append(node.rawValue)
                rooms[id] = changed
            case .settings(let id):
                var changed = room(id)
                changed.hasSettings = true
                rooms[id] = changed
            case .secret, nil: break
            }
        }
        self.rooms = rooms.values.sorted { $0.id < $1.id }
    }
}

/// Why the cluster's state could not be read.
public struct ClusterStatusError: Error, CustomStringConvertible {
    let reason: String

    public var description: String { "the cluster's state cannot be read: \(reason)" }
}

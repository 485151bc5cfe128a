import Cluster
import Conference
import MediaCore

/// The cluster as one of its relays knows it, for the page `/cluster`.
struct ClusterOverview: Encodable, Sendable {
    struct Room: Encodable, Sendable {
        var id: String
        /// The relay that leads it; nil: none.
        var owner: String?
        /// All relays that have participants of it.
        var relays: [String]
    }

    /// A link of the relay that tells this.
    struct Link: Encodable, Sendable {
        var room: String
        var relay: String
        var isConnected: Bool
        /// Participants at the other side.
        var participants: Int
        /// Bits a second.
        var sendBitRate: Int64
        var receiveBitRate: Int64
        /// Seconds; nil before the first measurement.
        var roundTripTime: Double?
    }

    /// Rooms that are listed at most; `roomCount` has all.
    static let mostRooms = 500

    /// The relay that tells this.
    var relay: String
    /// True if the directory answers: otherwise this is what it was.
    var isReachable: Bool
    var relays: [ClusterStatus.Relay]
    var roomCount: Int
    var rooms: [Room]
    var links: [Link]
}

extension ClusterOverview {
    /// - Parameter node: The relay that tells this.
    init(of directory: ClusterDirectory, at node: NodeID, links: [CascadeLinkSnapshot], now: MonotonicInstant) {
        let rooms = directory.rooms(atMost: Self.mostRooms)
        self.init(
            relay: node.rawValue, isReachable: directory.isReachable(now: now),
            relays: directory.nodes.sorted { $0.key < $1.key }.map { ClusterStatus.Relay($0.key, $0.value) },
            roomCount: directory.ownedRoomCount,
            rooms: rooms.map { room in
                Room(id: room.id, owner: room.owner?.rawValue, relays: room.relays.map(\.rawValue).sorted())
            },
            links: links.map(Link.init))
    }
}

extension ClusterStatus.Relay {
    init(_ id: NodeID, _ record: NodeRecord) {
        self.init(
            id: id.rawValue, url: record.url, region: record.region, version: record.version,
            state: record.state.rawValue, seatsLeft: record.seatsLeft, participants: record.participants,
            rooms: record.rooms)
    }
}

extension ClusterOverview.Link {
    init(_ link: CascadeLinkSnapshot) {
        self.init(
            room: link.room, relay: link.node, isConnected: link.isConnected, participants: link.members,
            sendBitRate: link.sendBitRate, receiveBitRate: link.receiveBitRate, roundTripTime: link.roundTripTime)
    }
}

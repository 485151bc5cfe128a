public import MediaCore

/// The cluster, and this relay's rooms in it.
extension ClusterDirectory {
    /// The relays of the cluster as last heard.
    public var nodes: [NodeID: NodeRecord] { mirror.contents.nodes }

    /// Rooms that have an owner, as last heard.
    public var ownedRoomCount: Int { mirror.contents.owners.count }

    /// The relay that leads a room, as last heard.
    public func owner(of room: String) -> (node: NodeID, epoch: Int64)? {
        mirror.contents.owners[room].map { ($0.owner.node, $0.epoch) }
    }

    /// Rooms that have an owner, as last heard, in the order of their names: so many of them, if there are more.
    public func rooms(atMost limit: Int) -> [(id: String, owner: NodeID?, relays: Set<NodeID>)] {
        mirror.contents.owners.prefix(limit).sorted { $0.key < $1.key }.map { id, ownership in
            (id, ownership.owner.node, mirror.contents.relays[id] ?? [])
        }
    }

    /// The other relays that have participants of a room, as last heard, in the order of their names.
    public func otherRelays(of room: String) -> [NodeID] {
        (mirror.contents.relays[room] ?? []).filter { $0 != node && nodes[$0] != nil }.sorted()
    }

    /// What tickets are signed with, also while a directory that has lost its data lacks it; nil: it is not known yet.
    public var secret: ClusterSecret? { (mirror.contents.secret ?? lastSecret).map { ClusterSecret($0) } }

    /// What this relay is to a room; nil: it has no such room.
    public func standing(of room: String, now: MonotonicInstant) -> RoomStanding? {
        guard let local = rooms[room] else { return nil }
        // Without a lease another relay may lead by now.
        if case .leading = local.standing, nodeLease.lease(now: now) == nil { return .unplaced }
        return local.standing
    }

    /// The number of rooms of this relay by what it is to them.
    public func roomCounts(now: MonotonicInstant) -> (leading: Int, following: Int, unplaced: Int) {
        var counts = (leading: 0, following: 0, unplaced: 0)
        for room in rooms.keys {
            switch standing(of: room, now: now) {
            case .leading: counts.leading += 1
            case .following: counts.following += 1
            case .unplaced: counts.unplaced += 1
            case nil: break
            }
        }
        return counts
    }

    /// Rooms in which participants are.
    public var presentRooms: [String] { rooms.filter(\.value.isPresent).map(\.key) }

    /// Whether settings of a room were set here or were found in the directory.
    public func hasSettings(_ room: String) -> Bool { rooms[room]?.settings != nil }

    /// Seats that are promised at other relays.
    public func promisedSeats(now: MonotonicInstant) -> Int { promises.total(now: now) }
}

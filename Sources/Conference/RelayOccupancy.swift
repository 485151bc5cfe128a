public import Compositing
public import RoomAPI

/// A relay's seats and the state of its rooms, as its cluster is told.
public struct RelayOccupancy: Hashable, Sendable {
    /// What a room has besides its participants. A relay that has the room next goes on with it.
    public struct RoomSettings: Hashable, Sendable {
        public var layout: RoomLayout
        public var overlays: OverlayList
        public var conditions: EntryConditions

        public init(
            layout: RoomLayout = .grid, overlays: OverlayList = OverlayList(),
            conditions: EntryConditions = EntryConditions()
        ) {
            self.layout = layout
            self.overlays = overlays
            self.conditions = conditions
        }

        /// True if a relay that has the room next does as well without them. When the room began matters only beside
        /// what else is told.
        public var areDefault: Bool {
            var others = self
            others.conditions.roomBegan = nil
            return others == RoomSettings()
        }
    }

    public var rooms: [String: RoomSettings] = [:]
    /// Rooms that take no more participants at this relay.
    public var fullRooms: Set<String> = []
    /// Rooms that have a lock, a PIN, a lobby or a ban, which this relay enforces.
    public var restrictedRooms: Set<String> = []
    public var participants = 0
    /// Further participants that fit; nil while that is not known.
    public var seatsLeft: Int?
}

extension Relay {
    /// The relay's seats and the state of its rooms at present.
    public var occupancy: RelayOccupancy {
        var occupancy = RelayOccupancy()
        for room in rooms.values {
            occupancy.rooms[room.id] = .init(
                layout: room.layout, overlays: room.overlays, conditions: room.door.conditions.told)
            if room.door.isRestrictive { occupancy.restrictedRooms.insert(room.id) }
            let count = room.participants.count { $0.remote == nil }
            if count >= configuration.maximumParticipants { occupancy.fullRooms.insert(room.id) }
        }
        occupancy.participants = participants.count
        occupancy.seatsLeft = overload.seatsLeft
        return occupancy
    }
}

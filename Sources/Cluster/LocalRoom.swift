import MediaCore

/// A room that this relay has, or is about to have, as the directory sees it.
struct LocalRoom {
    /// The state of the key `relays/{id}`, as far as it is known.
    enum Listing {
        case absent
        /// A request has no answer yet, or its answer is lost.
        case unsure
        case present
    }

    var standing = RoomStanding.unplaced
    /// True if participants are there.
    var isPresent = false
    /// The end of the time in which a client that was let in may still come.
    var expectedUntil: MonotonicInstant
    /// A request of this room is under way. One at a time keeps its writes in order.
    var isBusy = false
    var retryAt = MonotonicInstant.zero
    var listing = Listing.absent
    /// The newest settings of this room; nil: nobody has set any here.
    var settings: [UInt8]?
    /// Whether the directory has these settings, or none of this room if these are nil.
    var areSettingsWritten = true
    /// The relay gives the room away: it drains.
    var isReleased = false
    /// The epoch of an owner that has been found dead, and whose key is deleted before this relay claims the room.
    var deposed: Int64?
    /// The epoch of this relay's own key while that is deleted. The relay does not lead the room any more: another one
    /// may lead it before the answer comes.
    var closing: Int64?

    /// True if keys of the relay's lease may be there that have to be deleted when the room is not wanted any more.
    var mayHaveKeys: Bool { closing != nil || listing != .absent }

    /// True if the directory has settings of this room, which has ended.
    var leavesSettings: Bool { settings == nil && !areSettingsWritten }

    /// True if the directory's settings of this room end with the room here: this relay leads it, or has given it away
    /// and knows of no other that has it.
    var disposesOfSettings: Bool {
        switch standing {
        case .leading: true
        case .unplaced: isReleased
        case .following: false
        }
    }

    /// Whether the relay wants to have the room.
    func isWanted(now: MonotonicInstant) -> Bool { isPresent || now < expectedUntil }
}

/// A relay's part in a room that it has.
public enum RoomStanding: Hashable, Sendable {
    /// The directory does not say yet, or is away: the room is open here by itself.
    case unplaced
    /// It leads the room, with this epoch.
    case leading(epoch: Int64)
    /// Another relay leads it.
    case following(NodeID, epoch: Int64)
}

/// News of the cluster for the relay around the directory.
public enum ClusterNotice: Hashable, Sendable {
    /// The directory answers again, or does not any more.
    case reachable(Bool)
    /// The directory has this relay's name, of an earlier process that has not ended or whose lease has not.
    case nameInUse(NodeID)
    /// Another process keeps this relay's name.
    case nameTaken(NodeID)
    /// The relay's part in a room has changed.
    case standing(RoomStanding, room: String)
    /// The room had these settings on its last relay.
    case settings([UInt8], room: String)
}

/// Where a join goes.
public enum PlacementDecision: Hashable, Sendable {
    /// To this relay.
    case here
    /// To this relay or another: the directory is being asked. Ask again after the next notice about the room.
    case pending
    /// To another relay.
    case elsewhere(NodeID, url: String)
    /// To another relay, which has the room too, or joins the room's relays: this one has no seats in reserve.
    case further(NodeID, url: String)
    /// Nobody can say for now: relays disagree about the room, or none has a seat.
    case refused(reason: String)
}

import MediaCore

/// Orders of other relays about people whom this one does not know, until it hears where they are: somebody who moves
/// may have left this relay before the next one has told of them.
struct HeldOrders {
    private struct Entry {
        var room: String
        var participant: String
        var change: CascadeState.Order.Change
        var end: MonotonicInstant
    }

    /// The time for which an order waits. A relay tells of a newcomer within it, even if the message is lost once.
    static let lifetime = Duration.seconds(2)
    /// Of more, in a room or in all, the oldest is dropped.
    static let capacity = (room: 16, all: 64)

    private var entries: [Entry] = []

    mutating func hold(
        _ change: CascadeState.Order.Change, about participant: String, in room: String, now: MonotonicInstant
    ) {
        entries.removeAll { $0.end <= now }
        if change.isSpotlight { dropSpotlights(in: room) }
        if entries.count(where: { $0.room == room }) == Self.capacity.room,
            let oldest = entries.firstIndex(where: { $0.room == room })
        {
            entries.remove(at: oldest)
        }
        if entries.count == Self.capacity.all { entries.removeFirst() }
        entries.append(Entry(room: room, participant: participant, change: change, end: now + Self.lifetime))
    }

    /// Removes and returns the orders about a participant, the oldest first.
    mutating func take(
        about participant: String, in room: String, now: MonotonicInstant
    ) -> [CascadeState.Order.Change] {
        let isMeant = { (entry: Entry) in entry.participant == participant && entry.room == room }
        let changes = entries.filter { isMeant($0) && now < $0.end }.map(\.change)
        entries.removeAll(where: isMeant)
        return changes
    }

    /// Somebody has chosen what a room shows, later than a spotlight that waits.
    mutating func dropSpotlights(in room: String) { entries.removeAll { $0.room == room && $0.change.isSpotlight } }

    /// A room has ended.
    mutating func forget(room: String) { entries.removeAll { $0.room == room } }
}

extension CascadeState.Order.Change {
    /// The participant without whom the change is not possible; nil: it is about nobody alone.
    var subject: String? {
        switch self {
        case .moderation(.member(_, let id), _), .moderation(.remove(let id, _), _): id
        case .moderation(.spotlight(let id), _): id
        case .layout, .overlays, .moderation, .ban: nil
        }
    }

    fileprivate var isSpotlight: Bool {
        if case .moderation(.spotlight, _) = self { true } else { false }
    }
}

import MediaCore
import OrderedCollections
import RoomAPI

/// The people who wait until a moderator lets them into a room. They hold no seat and get no media.
struct RoomLobby {
    /// Somebody who has not asked for so long is gone.
    static let patience = Duration.seconds(30)
    static let capacity = 100

    private struct Entry {
        var name: String
        var state = LobbyState.waiting
        var asked: MonotonicInstant
    }

    private var entries: OrderedDictionary<String, Entry> = [:]

    /// Those who wait, in the order in which they came.
    var waiting: [WaitingPerson] {
        entries.filter { $0.value.state == .waiting }.map { WaitingPerson(id: $0.key, name: $0.value.name) }
    }

    /// Adds somebody; false if too many wait.
    mutating func add(_ id: String, name: String, now: MonotonicInstant) -> Bool {
        guard entries.count < Self.capacity else { return false }
        entries[id] = Entry(name: name, asked: now)
        return true
    }

    /// What became of somebody's waiting, who asks; nil: they are not known, or asked too long ago.
    mutating func ask(_ id: String, now: MonotonicInstant) -> LobbyState? {
        entries[id]?.asked = now
        return entries[id]?.state
    }

    /// Lets somebody in, or not; false if nobody of that id waits.
    mutating func answer(_ id: String, isAdmitted: Bool) -> Bool {
        guard entries[id]?.state == .waiting else { return false }
        entries[id]?.state = isAdmitted ? .admitted : .refused
        return true
    }

    /// Takes somebody out who was let in and enters now; false if they were not.
    mutating func enter(_ id: String) -> Bool {
        guard entries[id]?.state == .admitted else { return false }
        entries[id] = nil
        return true
    }

    /// Lets everybody in: there is no lobby any more.
    mutating func admitAll() {
        for index in entries.values.indices where entries.values[index].state == .waiting {
            entries.values[index].state = .admitted
        }
    }

    /// Forgets those who are gone. Returns whether somebody was waiting.
    mutating func expire(now: MonotonicInstant) -> Bool {
        let before = waiting.count
        entries.removeAll { now - $0.value.asked > Self.patience }
        return waiting.count != before
    }
}

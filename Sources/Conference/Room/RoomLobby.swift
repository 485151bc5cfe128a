import MediaCore
import OrderedCollections
import RoomAPI
import SecureTransport

/// The people who wait until a moderator lets them into a room. They hold no seat and get no media.
struct RoomLobby {
    /// A person that has not asked for this long is gone.
    static let patience = Duration.seconds(30)
    static let capacity = 100

    private struct Entry {
        var name: String
        /// The person's identity by its token; nil: not known.
        var identity: String?
        /// The network from which the person came; nil: not known.
        var network: ClientNetwork?
        var state = LobbyState.waiting
        var asked: MonotonicInstant
    }

    private var entries: OrderedDictionary<String, Entry> = [:]

    /// The people in the lobby, in the order in which they came.
    var waiting: [WaitingPerson] {
        entries.filter { $0.value.state == .waiting }.map { WaitingPerson(id: $0.key, name: $0.value.name) }
    }

    /// Adds a person; false if too many wait. One network gets as many places as stay free, half of all at most: nobody
    /// fills the lobby alone.
    mutating func add(
        _ id: String, name: String, identity: String?, from network: ClientNetwork?, now: MonotonicInstant
    ) -> Bool {
        let free = Self.capacity - entries.count
        let own = network.map { network in entries.values.count { $0.network == network } } ?? 0
        guard free > 0, own < free else { return false }
        entries[id] = Entry(name: name, identity: identity, network: network, asked: now)
        return true
    }

    /// The place of a person that a moderator has not refused: that of its ticket, or else of its identity, as a page
    /// that is loaded again has no ticket any more; nil: the person has none.
    func place(of ticket: String?, identity: String?) -> String? {
        if let ticket, let entry = entries[ticket], entry.state != .refused { return ticket }
        guard let identity else { return nil }
        return entries.first { $0.value.identity == identity && $0.value.state != .refused }?.key
    }

    /// Returns the outcome for a person in the lobby that asks; nil: unknown, or the last request is too long ago.
    mutating func ask(_ id: String, now: MonotonicInstant) -> LobbyState? {
        entries[id]?.asked = now
        return entries[id]?.state
    }

    /// Admits or refuses a person; false if no person of that id waits.
    mutating func answer(_ id: String, isAdmitted: Bool) -> Bool {
        guard entries[id]?.state == .waiting else { return false }
        entries[id]?.state = isAdmitted ? .admitted : .refused
        return true
    }

    /// Removes a person that waits no longer. Returns the state until now; nil: the person is not there.
    mutating func remove(_ id: String) -> LobbyState? { entries.removeValue(forKey: id)?.state }

    /// Removes a person that was admitted and has entered.
    mutating func entered(by ticket: String?, identity: String?) {
        guard let id = place(of: ticket, identity: identity), entries[id]?.state == .admitted else { return }
        entries[id] = nil
    }

    /// Lets everybody in: there is no lobby any more.
    mutating func admitAll() {
        for index in entries.values.indices where entries.values[index].state == .waiting {
            entries.values[index].state = .admitted
        }
    }

    /// Forgets people that are gone. Returns true if one of them was waiting.
    mutating func expire(now: MonotonicInstant) -> Bool {
        let before = waiting.count
        entries.removeAll { now - $0.value.asked > Self.patience }
        return waiting.count != before
    }
}

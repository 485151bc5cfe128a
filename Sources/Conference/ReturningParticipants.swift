import MediaCore

/// Participants that left a moment ago, whose clients may come back although there is no seat for others: a page that
/// is reloaded leaves and joins again within a second or two.
struct ReturningParticipants {
    /// The time between leaving and joining again.
    static let lifetime = Duration.seconds(15)
    /// The most that may come back over the limit; of more the one that left first is forgotten.
    static let capacity = 32

    private struct Entry {
        var room: String
        var publicID: String
        var rights: Participant.Rights
        var end: MonotonicInstant
    }

    private var entries: [Entry] = []

    mutating func add(_ publicID: String, of room: String, rights: Participant.Rights, now: MonotonicInstant) {
        entries.removeAll { $0.end <= now }
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append(Entry(room: room, publicID: publicID, rights: rights, end: now + Self.lifetime))
    }

    func contains(_ publicID: String, of room: String, now: MonotonicInstant) -> Bool {
        entries.contains { $0.publicID == publicID && $0.room == room && now < $0.end }
    }

    /// The client's role and permissions.
    func rights(of publicID: String, of room: String, now: MonotonicInstant) -> Participant.Rights? {
        entries.first { $0.publicID == publicID && $0.room == room && now < $0.end }?.rights
    }

    mutating func remove(_ publicID: String) { entries.removeAll { $0.publicID == publicID } }
}

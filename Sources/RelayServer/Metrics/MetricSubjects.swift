import Conference

/// The rooms and participants that have metrics of their own.
///
/// Any client may make rooms, and each label value is a time series that a monitor keeps for long. So only the oldest
/// rooms and participants get labels; the others count in the totals.
struct MetricSubjects {
    /// Rooms with labels.
    static let maximumRooms = 100
    /// Participants with labels.
    static let maximumParticipants = 250

    /// The rooms in the order of their names.
    let rooms: [(subject: RoomSnapshot, labels: [PrometheusText.Label])]
    /// The participants in the order of their rooms.
    let participants: [(subject: ParticipantSnapshot, labels: [PrometheusText.Label])]

    init(_ relay: RelaySnapshot) {
        rooms = Self.longest(relay.rooms, Self.maximumRooms) { $0.participants.map(\.duration).max() ?? 0 }
            .map { ($0, [("room", $0.id)]) }
        let everybody = relay.rooms.flatMap { room in
            room.participants.map { (subject: $0, labels: [("room", room.id), ("participant", $0.id)]) }
        }
        participants = Self.longest(everybody, Self.maximumParticipants, \.subject.duration)
    }

    /// The subjects of the longest durations, in their own order.
    private static func longest<Subject>(
        _ subjects: [Subject], _ maximum: Int, _ duration: (Subject) -> Double
    ) -> [Subject] {
        guard subjects.count > maximum else { return subjects }
        let durations = subjects.map(duration)
        // Among equal durations the first ones are chosen, so that the choice is stable.
        let order = subjects.indices.sorted { (left: Int, right: Int) -> Bool in
            durations[left] == durations[right] ? left < right : durations[left] > durations[right]
        }
        return order.prefix(maximum).sorted().map { subjects[$0] }
    }
}

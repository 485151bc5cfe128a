import NIOCore

/// What has happened in a relay's rooms and was not yet told. Bounded: where nobody asks, the oldest go.
final class RoomEventLog {
    static let capacity = 4096

    private var events = CircularBuffer<RoomEvent>()

    func append(_ kind: RoomEvent.Kind, room: String) {
        if events.count == Self.capacity { events.removeFirst() }
        events.append(RoomEvent(room: room, kind: kind))
    }

    func popFirst() -> RoomEvent? { events.popFirst() }
}

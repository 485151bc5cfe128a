import NIOCore

/// Events of a relay's rooms that have not been taken yet. Bounded: the oldest are dropped.
final class RoomEventLog {
    static let capacity = 4096

    private var events = CircularBuffer<RoomEvent>()

    func append(_ kind: RoomEvent.Kind, room: String) {
        if events.count == Self.capacity { events.removeFirst() }
        events.append(RoomEvent(room: room, kind: kind))
    }

    func popFirst() -> RoomEvent? { events.popFirst() }
}

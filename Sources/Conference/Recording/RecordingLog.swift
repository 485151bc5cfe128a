import NIOCore
import RoomAPI

/// Items for a relay's recordings that have not been taken yet. Bounded: the oldest is dropped.
final class RecordingLog {
    static let capacity = 8192

    private var items = CircularBuffer<RecordingItem>()

    func append(_ item: RecordingItem) {
        if items.count == Self.capacity { items.removeFirst() }
        items.append(item)
    }

    func popFirst() -> RecordingItem? { items.popFirst() }
}

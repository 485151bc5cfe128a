import Conference
import DequeModule
import MediaCore
import RoomAPI
import Synchronization

/// What waits to be written into one recording: filled on the relay's loop, emptied on the recording's thread.
///
/// Bounded by bytes, of this recording and of all together. What tells of the recording itself is always taken: it is
/// small, and comes no faster than people do things.
final class RecordingQueue: Sendable {
    enum Item: Sendable {
        case media(RecordingItem)
        case event(RecordingTimelineEntry.Event, at: Duration)
        case end(RecordingEndReason, at: Duration)
    }

    /// The bytes that wait in all recordings of a relay.
    final class Budget: Sendable {
        private let bytes = Atomic(0)
        private let limit: Int

        init(limit: DataSize = RecordingSettings.totalQueueLimit) {
            self.limit = limit.bytes
        }

        func take(_ size: Int) -> Bool {
            guard bytes.add(size, ordering: .relaxed).newValue <= limit else {
                give(size)
                return false
            }
            return true
        }

        func give(_ size: Int) { bytes.subtract(size, ordering: .relaxed) }
    }

    private struct State {
        var items = Deque<Item>()
        var bytes = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let budget: Budget

    init(limit: DataSize = RecordingSettings.queueLimit, budget: Budget) {
        self.limit = limit.bytes
        self.budget = budget
    }

    /// Takes a sample. Returns false where there is no room for it. The end of a track is always taken.
    func offer(_ item: RecordingItem) -> Bool {
        let size = Self.size(of: item)
        return state.withLock { state in
            guard !state.isEnded, size == 0 || (state.bytes + size <= limit && budget.take(size)) else { return false }
            state.bytes += size
            state.items.append(.media(item))
            return true
        }
    }

    func append(_ event: RecordingTimelineEntry.Event, at time: Duration) {
        state.withLock { state in
            if !state.isEnded { state.items.append(.event(event, at: time)) }
        }
    }

    /// Nothing comes after this.
    func end(_ reason: RecordingEndReason, at time: Duration) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            state.items.append(.end(reason, at: time))
        }
    }

    /// Whether so little waits that it is worth while to go on after a loss.
    var isRoomy: Bool { state.withLock { !$0.isEnded && $0.bytes <= limit / 4 } }

    /// The next thing to write. Its bytes count until the one after it is taken.
    func next(after former: Item?) -> Item? {
        let size = former.map { Self.size(of: $0) } ?? 0
        if size > 0 { budget.give(size) }
        return state.withLock { state in
            state.bytes -= size
            return state.items.popFirst()
        }
    }

    private static func size(of item: Item) -> Int {
        if case .media(let item) = item { size(of: item) } else { 0 }
    }

    /// What an item keeps in memory: its bytes lie in the buffers of the datagrams that they came in.
    private static func size(of item: RecordingItem) -> Int {
        switch item.content {
        case .video(let sample, _): sample.data.count * 2 + 2048
        case .audio: 2048
        case .anchored: 256
        case .trackEnded: 0
        }
    }
}

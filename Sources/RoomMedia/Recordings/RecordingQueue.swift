import DequeModule
package import MediaCore
package import RoomAPI
import Synchronization

/// The items that wait to be written into one recording. The relay's loop adds them, and the recording's thread takes
/// them.
///
/// Bounded by bytes, of this recording and of all together. The items of one participant take no more bytes than are
/// still free, so half of the queue at most: one participant cannot fill it. Events of the recording are taken beyond
/// these bounds, because a film is wrong without them. They have a bound of their own, at which the recording ends.
package final class RecordingQueue: Sendable {
    enum Item: Sendable {
        case media(RecordingItem)
        case event(RecordingTimelineEntry.Event, at: Duration)
        case end(RecordingEndReason, at: Duration)
    }

    /// The bytes that may wait in several queues together: in those of all recordings, of all streams or of all
    /// outputs.
    package final class Budget: Sendable {
        private let bytes = Atomic(0)
        private let limit: Int

        package init(limit: DataSize = RecordingSettings.totalQueueLimit) {
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
        /// The bytes of each participant's samples that wait.
        var shares: [String: Int] = [:]
        /// The bytes of events and ends of tracks that wait.
        var bytesOfEvents = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let limitOfEvents: Int
    private let budget: Budget
    /// Is told once, by the caller of the queue, that it has ended because nothing is written.
    private let onOverflow: @Sendable () -> Void

    package init(
        limit: DataSize = RecordingSettings.queueLimit, limitOfEvents: DataSize = RecordingSettings.eventLimit,
        budget: Budget, onOverflow: @escaping @Sendable () -> Void = {}
    ) {
        self.limit = limit.bytes
        self.limitOfEvents = limitOfEvents.bytes
        self.budget = budget
        self.onOverflow = onOverflow
    }

    /// Takes a sample. Returns false where there is no room for it. The end of a track is taken like an event.
    package func offer(_ item: RecordingItem) -> Bool {
        if case .trackEnded = item.content { return take(.media(item), at: item.at) }
        let size = Self.size(of: item)
        return state.withLock { state in
            let share = item.track.participant.flatMap { state.shares[$0] } ?? 0
            guard !state.isEnded, state.bytes + share + size <= limit, budget.take(size) else { return false }
            state.bytes += size
            if let participant = item.track.participant { state.shares[participant] = share + size }
            state.items.append(.media(item))
            return true
        }
    }

    package func append(_ event: RecordingTimelineEntry.Event, at time: Duration) {
        _ = take(.event(event, at: time), at: time)
    }

    /// Takes what tells of the recording itself. Where too much of it waits, the recording ends in its place.
    private func take(_ item: Item, at time: Duration) -> Bool {
        let size = Self.sizeOfEvent(item)
        let (isTaken, overflows) = state.withLock { state in
            guard !state.isEnded else { return (false, false) }
            guard state.bytesOfEvents + size <= limitOfEvents else {
                state.isEnded = true
                state.items.append(.end(.failed, at: time))
                return (false, true)
            }
            state.bytesOfEvents += size
            state.items.append(item)
            return (true, false)
        }
        if overflows { onOverflow() }
        return isTaken
    }

    /// Nothing comes after this.
    package func end(_ reason: RecordingEndReason, at time: Duration) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            state.items.append(.end(reason, at: time))
        }
    }

    /// Whether so little waits that it is worth while to go on after a loss.
    package var isRoomy: Bool { state.withLock { !$0.isEnded && $0.bytes <= limit / 4 } }

    /// The next thing to write. Its bytes count until the one after it is taken.
    func next(after former: Item?) -> Item? {
        let size = former.map { Self.size(of: $0) } ?? 0
        let sizeOfEvent = former.map { Self.sizeOfEvent($0) } ?? 0
        if size > 0 { budget.give(size) }
        return state.withLock { state in
            state.bytes -= size
            if case .media(let item) = former, let participant = item.track.participant,
                let share = state.shares[participant]
            {
                state.shares[participant] = share > size ? share - size : nil
            }
            state.bytesOfEvents -= sizeOfEvent
            return state.items.popFirst()
        }
    }

    private static func size(of item: Item) -> Int {
        if case .media(let item) = item { size(of: item) } else { 0 }
    }

    /// The most bytes that an event or a track's end keeps in memory; zero for samples.
    private static func sizeOfEvent(_ item: Item) -> Int {
        switch item {
        case .event(.layout(let layout), _):
            if case .template = layout.mode { 64 << 10 } else { 1024 + 64 * layout.hidden.count }
        case .event: 1024
        case .media(let item): if case .trackEnded = item.content { 256 } else { 0 }
        case .end: 0
        }
    }

    /// The memory that an item keeps: its bytes lie in the buffers of the datagrams that they came in.
    private static func size(of item: RecordingItem) -> Int {
        switch item.content {
        case .video(let sample, _): sample.data.count * 2 + 2048
        case .audio: 2048
        case .anchored: 256
        case .trackEnded: 0
        }
    }
}

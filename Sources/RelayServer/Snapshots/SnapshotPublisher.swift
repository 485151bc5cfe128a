import MediaCore
import NIOCore
import Synchronization

/// Publishes snapshots that an event loop makes, so that requests are answered without entering the loop.
///
/// A snapshot is made when a request comes and the published one is older than `interval`, or older than the last
/// reported change: a client that changes something and then asks sees its change. All waiting requests share one
/// snapshot. Two are made at least `spacing` apart in any case; those of different keys take turns.
final class SnapshotPublisher<Key: Hashable & Sendable, Snapshot: Sendable>: Sendable {
    /// A snapshot with the documents that were made of it.
    typealias Published = SnapshotDocuments<Snapshot>
    private typealias Waiter = CheckedContinuation<Published?, Never>

    private struct Entry {
        var published: Published
        var made: MonotonicInstant
        var change: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var waiters: [Key: [Waiter]] = [:]
        /// The keys of `waiters`, in the order in which they came.
        var turns = CircularBuffer<Key>()
        var lastMade: MonotonicInstant?
        /// Counts the changes.
        var change: UInt64 = 0
        var isScheduled = false
        var make: (@Sendable (Key) -> Snapshot?)?

        /// The published snapshot of a key, while it holds.
        func published(_ key: Key, interval: Duration, now: MonotonicInstant) -> Published? {
            guard let entry = entries[key], entry.change == change, entry.made + interval > now else { return nil }
            return entry.published
        }
    }

    private let eventLoop: any EventLoop
    private let interval: Duration
    private let spacing: Duration
    private let now: @Sendable () -> MonotonicInstant
    private let state = Mutex(State())

    /// - Parameters:
    ///   - eventLoop: The loop that makes the snapshots.
    ///   - interval: The time for which a snapshot of a key is published, unless something changes.
    ///   - spacing: The shortest time between two snapshots of any key.
    ///   - now: The clock.
    init(
        eventLoop: any EventLoop, interval: Duration, spacing: Duration, now: @escaping @Sendable () -> MonotonicInstant
    ) {
        self.eventLoop = eventLoop
        self.interval = interval
        self.spacing = spacing
        self.now = now
    }

    /// Sets the function that makes a snapshot, on the event loop; it returns nil if the key has none.
    func setMake(_ make: @escaping @Sendable (Key) -> Snapshot?) {
        state.withLock { $0.make = make }
    }

    /// Invalidates earlier snapshots.
    func didChange() {
        state.withLock { $0.change &+= 1 }
    }

    /// The newest snapshot of a key; nil if there is none.
    func snapshot(_ key: Key) async -> Published? {
        let now = now()
        if let published = state.withLock({ $0.published(key, interval: interval, now: now) }) { return published }
        return await withCheckedContinuation { waiter in
            let delay = state.withLock { state -> Duration? in
                if state.waiters[key] == nil { state.turns.append(key) }
                state.waiters[key, default: []].append(waiter)
                return schedule(&state)
            }
            if let delay { arm(delay) }
        }
    }

    /// Returns the time until the next turn; nil if it is already scheduled, or nobody waits.
    private func schedule(_ state: inout State) -> Duration? {
        guard !state.isScheduled, !state.turns.isEmpty else { return nil }
        state.isScheduled = true
        guard let lastMade = state.lastMade else { return .zero }
        return max(.zero, lastMade + spacing - now())
    }

    private func arm(_ delay: Duration) {
        if delay > .zero {
            eventLoop.scheduleTask(in: TimeAmount(delay)) { self.takeTurn() }.futureResult.whenFailure { _ in
                // The loop has ended.
                self.abandon()
            }
        } else {
            eventLoop.submit { self.takeTurn() }.whenFailure { _ in self.abandon() }
        }
    }

    /// Makes the next snapshot, on the event loop.
    private func takeTurn() {
        let turn = state.withLock { state in
            state.isScheduled = false
            return state.turns.popFirst().map { ($0, state.change, state.make) }
        }
        guard let (key, change, make) = turn else { return }
        let published = make?(key).map { Published($0) }
        let (waiters, delay) = state.withLock { state in
            let now = now()
            state.lastMade = now
            // Snapshots of ended rooms, and those that nobody asks for, are not kept.
            state.entries = state.entries.filter { $0.value.made + interval > now }
            state.entries[key] = published.map { Entry(published: $0, made: now, change: change) }
            return (state.waiters.removeValue(forKey: key) ?? [], schedule(&state))
        }
        for waiter in waiters { waiter.resume(returning: published) }
        if let delay { arm(delay) }
    }

    private func abandon() {
        let waiters = state.withLock { state in
            defer {
                state.waiters = [:]
                state.turns.removeAll()
                state.isScheduled = false
            }
            return state.waiters.values.flatMap(\.self)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }
}

import DequeModule
import MediaCore
package import RoomAPI
import Synchronization

/// The samples that one output has yet to send: filled on the relay's loop, emptied on the output's thread.
///
/// It has bounds by bytes and by time. When one is reached, everything before the newest keyframe that waits is lost,
/// or everything if there is none; then it goes on with a keyframe. While the thread has no connection, nothing waits.
package final class OutputQueue: Sendable {
    package struct Limits: Sendable {
        /// The bytes that wait. A group of pictures of 2 s at the highest bitrate has 5 MB, and counts twice.
        var size = DataSize(bytes: 16 << 20)
        /// The time from the oldest sample that waits to the newest: two groups of pictures.
        var duration = Duration.seconds(4)
        /// The bytes that each queue has for itself. More than these it takes from the budget of all.
        var reserve = DataSize(bytes: 2 << 20)
    }

    enum Next {
        case sample(RecordingItem)
        /// Nothing came in time.
        case nothing
        case end
    }

    private struct Entry {
        var item: RecordingItem
        var size: Int
        var isKeyframe: Bool
        var isVideo: Bool
    }

    private enum Mode {
        /// There is no connection.
        case closed
        /// It goes on with a keyframe, which was asked for.
        case awaitsKeyframe(hasAsked: Bool)
        case flowing
    }

    private struct State {
        var entries = Deque<Entry>()
        var bytes = 0
        var mode = Mode.closed
        var isEnded = false
        var framesDropped = 0
    }

    private let state = Mutex(State())
    private let news = TimedSemaphore()
    private let limits: Limits
    private let budget: RecordingQueue.Budget

    package init(limits: Limits = Limits(), budget: RecordingQueue.Budget) {
        self.limits = limits
        self.budget = budget
    }

    deinit {
        state.withLock { remove($0.bytes, &$0) }
    }

    // MARK: On the loop

    /// Takes a sample. Returns whether the composite is to have a keyframe.
    package func offer(_ item: RecordingItem) -> Bool {
        var entry = Entry(item: item, size: 2048, isKeyframe: false, isVideo: false)
        switch item.content {
        case .video(let sample, _):
            (entry.isVideo, entry.isKeyframe) = (true, sample.isSync)
            // Its bytes lie in the buffers of the encoder, which are larger.
            entry.size += sample.data.count * 2
        case .audio: break
        case .trackEnded, .anchored: return false
        }
        let (isTaken, wantsKeyframe) = state.withLock { state in
            guard !state.isEnded else { return (false, false) }
            switch state.mode {
            case .closed: return (false, false)
            case .awaitsKeyframe(let hasAsked) where !entry.isKeyframe:
                state.mode = .awaitsKeyframe(hasAsked: true)
                if entry.isVideo, hasAsked { state.framesDropped += 1 }
                return (false, !hasAsked)
            case .awaitsKeyframe, .flowing: break
            }
            return take(entry, &state)
        }
        if isTaken { news.signal() }
        return wantsKeyframe
    }

    private func take(_ entry: Entry, _ state: inout State) -> (isTaken: Bool, wantsKeyframe: Bool) {
        state.mode = .flowing
        let first = state.entries.first?.item.at ?? entry.item.at
        let isLate = entry.item.at - first > limits.duration
        if isLate || !add(entry.size, &state) {
            // A keyframe makes everything before it needless.
            let keyframe = entry.isKeyframe ? nil : state.entries.lastIndex { $0.isKeyframe }
            drop(first: keyframe ?? state.entries.count, &state)
            guard keyframe != 0, entry.isKeyframe || keyframe != nil, add(entry.size, &state) else {
                drop(first: state.entries.count, &state)
                if entry.isVideo { state.framesDropped += 1 }
                state.mode = .awaitsKeyframe(hasAsked: true)
                return (false, true)
            }
        }
        state.entries.append(entry)
        return (true, false)
    }

    /// Counts bytes as waiting. Returns false if they exceed a bound.
    private func add(_ bytes: Int, _ state: inout State) -> Bool {
        let sum = state.bytes + bytes
        guard sum <= limits.size.bytes, budget.take(shared(sum) - shared(state.bytes)) else { return false }
        state.bytes = sum
        return true
    }

    private func remove(_ bytes: Int, _ state: inout State) {
        budget.give(shared(state.bytes) - shared(state.bytes - bytes))
        state.bytes -= bytes
    }

    /// The part of these bytes that comes from the budget of all queues.
    private func shared(_ bytes: Int) -> Int { max(0, bytes - limits.reserve.bytes) }

    private func drop(first count: Int, _ state: inout State) {
        guard count > 0 else { return }
        var bytes = 0
        for entry in state.entries.prefix(count) {
            bytes += entry.size
            if entry.isVideo { state.framesDropped += 1 }
        }
        state.entries.removeFirst(count)
        remove(bytes, &state)
    }

    /// Nothing comes after this. What waits is still handed out.
    func end() {
        state.withLock { $0.isEnded = true }
        news.signal()
    }

    // MARK: On the thread

    /// There is a connection: what comes from the next keyframe on waits to be sent.
    func open() {
        state.withLock { $0.mode = .awaitsKeyframe(hasAsked: false) }
    }

    /// There is no connection: what waits is lost.
    func close() {
        state.withLock { state in
            state.mode = .closed
            drop(first: state.entries.count, &state)
        }
    }

    /// The next sample, for which it waits.
    func next(upTo timeout: Duration) -> Next {
        let end = MonotonicInstant.now() + timeout
        while true {
            let (entry, isEnded) = state.withLock { state in
                let entry = state.entries.popFirst()
                if let entry { remove(entry.size, &state) }
                return (entry, state.isEnded)
            }
            if let entry { return .sample(entry.item) }
            if isEnded { return .end }
            guard news.wait(until: end) else { return .nothing }
        }
    }

    /// Waits, but not beyond the end.
    func pause(_ duration: Duration) {
        let end = MonotonicInstant.now() + duration
        while !isEnded, news.wait(until: end) {}
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }
    var framesDropped: Int { state.withLock { $0.framesDropped } }
    /// The bytes that wait, as they count.
    var size: DataSize { DataSize(bytes: state.withLock { $0.bytes }) }
}

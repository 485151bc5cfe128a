import Synchronization

/// What the pools have in common: pictures, of which those that nobody else holds may be handed out.
///
/// A picture is not handed back. The shelf refers to it all the time and looks, when it needs one, whether anyone else
/// still does. So letting go of a picture costs nothing but that, pictures outlive their pool, and the object that holds
/// a picture's memory is recycled along with the memory.
final class PixelBufferShelf: Sendable {
    private struct Entry {
        var storage: PixelBufferStorage
        /// When the picture was first seen unused.
        var unusedSince: MonotonicInstant?
    }

    private struct State {
        var entries: [Entry] = []
        var counts = PixelBufferPoolStatistics()
    }

    let format: PixelFormat
    let dimensions: VideoDimensions
    let maximumCount: Int
    private let configuration: PixelBufferPool.Configuration
    private let minimumCount: Int
    private let state: Mutex<State>

    init(
        format: PixelFormat, dimensions: VideoDimensions, configuration: PixelBufferPool.Configuration,
        maximumCount: Int
    ) {
        self.format = format
        self.dimensions = dimensions
        self.configuration = configuration
        self.maximumCount = maximumCount
        minimumCount = min(max(0, configuration.minimumCount), maximumCount)
        var state = State()
        for _ in 0..<minimumCount {
            state.entries.append(Entry(storage: Self.allocate(format, dimensions, configuration)))
            state.counts.allocated += 1
        }
        self.state = Mutex(state)
    }

    var allocationCount: Int { state.withLock { $0.counts.allocated } }

    var statistics: PixelBufferPoolStatistics {
        state.withLock { state in
            var statistics = state.counts
            for index in state.entries.indices where isKnownUniquelyReferenced(&state.entries[index].storage) {
                statistics.free += 1
            }
            statistics.inUse = state.entries.count - statistics.free
            return statistics
        }
    }

    /// A picture that nobody else holds; nil where the cap allows no more.
    func take() -> PixelBufferStorage? {
        state.withLock { state in
            // Always the first one that is unused, so that what is not needed lies unused at the end and ages.
            var taken: PixelBufferStorage?
            for index in state.entries.indices where isKnownUniquelyReferenced(&state.entries[index].storage) {
                state.entries[index].unusedSince = nil
                taken = state.entries[index].storage
                break
            }
            letGoOfSurplus(&state, takenCount: taken == nil ? 0 : 1)
            if let taken {
                state.counts.recycled += 1
                taken.attachments = PixelBufferAttachments()
                return taken
            }
            guard state.entries.count < maximumCount else {
                state.counts.refused += 1
                return nil
            }
            let storage = Self.allocate(format, dimensions, configuration)
            state.entries.append(Entry(storage: storage))
            state.counts.allocated += 1
            return storage
        }
    }

    func trim() {
        state.withLock { letGoOfSurplus(&$0, takenCount: 0) }
    }

    func flush() {
        state.withLock { state in
            for index in state.entries.indices.reversed()
            where isKnownUniquelyReferenced(&state.entries[index].storage) {
                state.entries.remove(at: index)
            }
        }
    }

    /// Lets go of unused pictures that are too old or too many, down to the minimum.
    ///
    /// - Parameter takenCount: Pictures that were unused until now; they count among those that may be kept.
    private func letGoOfSurplus(_ state: inout State, takenCount: Int) {
        let now = configuration.aging?.clock.now
        var freeCount = takenCount
        for index in state.entries.indices where isKnownUniquelyReferenced(&state.entries[index].storage) {
            freeCount += 1
            if state.entries[index].unusedSince == nil { state.entries[index].unusedSince = now }
        }
        guard freeCount > takenCount else { return }
        for index in state.entries.indices.reversed() where state.entries.count > minimumCount {
            guard isKnownUniquelyReferenced(&state.entries[index].storage) else { continue }
            if let aging = configuration.aging, let now, let since = state.entries[index].unusedSince,
                now - since > aging.maximumAge
            {
                state.counts.agedOut += 1
            } else if freeCount <= configuration.maximumFreeCount {
                continue
            }
            state.entries.remove(at: index)
            freeCount -= 1
        }
    }

    private static func allocate(
        _ format: PixelFormat, _ dimensions: VideoDimensions, _ configuration: PixelBufferPool.Configuration
    ) -> PixelBufferStorage {
        PixelBufferStorage(
            allocating: PixelBufferBacking(
                format: format, dimensions: dimensions, alignment: configuration.rowAlignment))
    }
}

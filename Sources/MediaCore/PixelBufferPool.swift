import Synchronization

/// Recycles pictures of one format and size. Safe to use from any thread.
///
/// A picture comes back when its last reference is released. In steady state nothing is allocated: neither the memory
/// of pictures nor its owner.
///
/// A picture is not handed back actively. The pool always refers to it and checks, when it needs one, whether others
/// still do. So releasing a picture costs nothing more, pictures outlive their pool, and the object that owns a
/// picture's memory is recycled along with the memory.
public final class PixelBufferPool: Sendable {
    public struct Configuration: Sendable {
        /// The number of pictures that are allocated at the start, and kept until a `flush`.
        public var minimumCount: Int
        /// The largest number of kept unused pictures; never fewer than the minimum.
        public var maximumFreeCount: Int
        /// The rule by which unused pictures beyond the minimum are released; nil for never.
        public var aging: Aging?
        /// Each plane's first byte and stride are a multiple of this many bytes; a power of two.
        public var rowAlignment: Int

        public init(
            minimumCount: Int = 0, maximumFreeCount: Int = 16, aging: Aging? = nil,
            rowAlignment: Int = 64
        ) {
            self.minimumCount = minimumCount
            self.maximumFreeCount = maximumFreeCount
            self.aging = aging
            self.rowAlignment = rowAlignment
        }
    }

    /// The longest time that a picture may be unused, and the clock for it.
    public struct Aging: Sendable {
        public var maximumAge: Duration
        public var clock: any MediaClock

        public init(maximumAge: Duration, clock: any MediaClock) {
            self.maximumAge = maximumAge
            self.clock = clock
        }
    }

    private struct Entry {
        var storage: PixelBufferStorage
        /// The time at which the picture was first seen unused.
        var unusedSince: MonotonicInstant?
    }

    private struct State {
        var entries: [Entry] = []
        var counts = PixelBufferPoolStatistics()
    }

    public let format: PixelFormat
    public let dimensions: VideoDimensions
    private let configuration: Configuration
    private let minimumCount: Int
    private let state: Mutex<State>

    public init(format: PixelFormat, dimensions: VideoDimensions, configuration: Configuration = Configuration()) {
        self.format = format
        self.dimensions = dimensions
        self.configuration = configuration
        minimumCount = max(0, configuration.minimumCount)
        var state = State()
        for _ in 0..<minimumCount {
            state.entries.append(Entry(storage: Self.allocate(format, dimensions, configuration)))
            state.counts.allocated += 1
        }
        self.state = Mutex(state)
    }

    /// Returns a picture to write, with undefined contents and no attachments: a recycled one if there is one.
    public func makeBuffer() -> MutablePixelBuffer {
        let storage = state.withLock { state in
            // Always the first unused one, so that surplus pictures stay unused at the end and age.
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
            let storage = Self.allocate(format, dimensions, configuration)
            state.entries.append(Entry(storage: storage))
            state.counts.allocated += 1
            return storage
        }
        return MutablePixelBuffer(storage: storage)
    }

    /// The number of pictures that the pool has allocated since it was made.
    public var allocationCount: Int { state.withLock { $0.counts.allocated } }

    public var statistics: PixelBufferPoolStatistics {
        state.withLock { state in
            var statistics = state.counts
            for index in state.entries.indices where isKnownUniquelyReferenced(&state.entries[index].storage) {
                statistics.free += 1
            }
            statistics.inUse = state.entries.count - statistics.free
            return statistics
        }
    }

    /// Releases unused pictures that are too old or too many. `makeBuffer` does so too; call this for pools that may
    /// not be used again for long.
    public func trim() {
        state.withLock { letGoOfSurplus(&$0, takenCount: 0) }
    }

    /// Releases all unused pictures, those of the minimum too.
    public func flush() {
        state.withLock { state in
            for index in state.entries.indices.reversed()
            where isKnownUniquelyReferenced(&state.entries[index].storage) {
                state.entries.remove(at: index)
            }
        }
    }

    /// Releases unused pictures that are too old or too many, down to the minimum.
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

/// The work of a pool since it was made, and its present state.
public struct PixelBufferPoolStatistics: Hashable, Sendable {
    /// The number of allocated pictures, those at the start too.
    public var allocated = 0
    /// Times that a picture was handed out again.
    public var recycled = 0
    /// Pictures that were unused for too long and were released.
    public var agedOut = 0
    /// Pictures that are in use now.
    public var inUse = 0
    /// Pictures that nobody holds now.
    public var free = 0
}

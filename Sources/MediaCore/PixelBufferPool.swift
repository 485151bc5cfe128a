import Synchronization

/// Recycles the memory of pictures of one format and size. Safe to use from any thread.
///
/// A picture's memory comes back when its last holder lets go. In steady state no picture memory is allocated.
public final class PixelBufferPool: Sendable {
    public let format: PixelFormat
    public let dimensions: VideoDimensions
    private let free: FreeList

    /// Creates an empty pool that keeps at most `maximumFreeCount` unused pictures.
    public init(format: PixelFormat, dimensions: VideoDimensions, maximumFreeCount: Int = 16) {
        self.format = format
        self.dimensions = dimensions
        free = FreeList(limit: maximumFreeCount)
    }

    /// How many pictures the pool has allocated since it was made.
    public var allocationCount: Int { free.state.withLock { $0.allocated } }

    /// A picture to write, with undefined contents: a recycled one where there is one.
    public func makeBuffer() -> MutablePixelBuffer {
        let recycled = free.state.withLock { state -> PixelBufferBacking? in
            if let backing = state.backings.popLast() { return backing }
            state.allocated += 1
            return nil
        }
        let backing = recycled ?? PixelBufferBacking(format: format, dimensions: dimensions)
        return MutablePixelBuffer(
            storage: PixelBufferStorage(
                format: format, dimensions: dimensions, planes: backing.planes,
                release: { [free] in free.take(back: backing) }))
    }

    /// The pool's memory, kept apart from the pool so that pictures may outlive it.
    private final class FreeList: Sendable {
        struct State {
            var backings: [PixelBufferBacking] = []
            var allocated = 0
        }

        let state: Mutex<State>
        let limit: Int

        init(limit: Int) {
            self.limit = limit
            var initial = State()
            initial.backings.reserveCapacity(limit)
            state = Mutex(initial)
        }

        func take(back backing: PixelBufferBacking) {
            state.withLock { if $0.backings.count < limit { $0.backings.append(backing) } }
        }
    }
}

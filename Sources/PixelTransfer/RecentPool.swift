import MediaCore
import Synchronization

/// A pool for pictures of the format and size that were asked for last.
final class RecentPool: Sendable {
    private let recent = Mutex<PixelBufferPool?>(nil)

    /// A picture to write, with undefined contents.
    func makeBuffer(_ format: PixelFormat, _ dimensions: VideoDimensions) -> MutablePixelBuffer {
        let pool = recent.withLock { recent in
            if let pool = recent, pool.format == format, pool.dimensions == dimensions { return pool }
            let pool = PixelBufferPool(format: format, dimensions: dimensions)
            recent = pool
            return pool
        }
        return pool.makeBuffer()
    }

    /// Pictures that the pool of now has allocated.
    var allocationCount: Int { recent.withLock { $0?.allocationCount ?? 0 } }
}

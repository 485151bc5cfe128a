import MediaCore
import Synchronization

/// A pool for pictures of the format, size and alignment that were asked for last.
final class RecentPool: Sendable {
    private struct Recent {
        var pool: PixelBufferPool
        var rowAlignment: Int
    }

    private let recent = Mutex<Recent?>(nil)

    /// A picture to write, with undefined contents.
    func makeBuffer(_ format: PixelFormat, _ dimensions: VideoDimensions, rowAlignment: Int = 64) -> MutablePixelBuffer
    {
        let pool = recent.withLock { recent in
            if let recent, recent.pool.format == format, recent.pool.dimensions == dimensions,
                recent.rowAlignment == rowAlignment
            {
                return recent.pool
            }
            let pool = PixelBufferPool(
                format: format, dimensions: dimensions,
                configuration: PixelBufferPool.Configuration(rowAlignment: rowAlignment))
            recent = Recent(pool: pool, rowAlignment: rowAlignment)
            return pool
        }
        return pool.makeBuffer()
    }

    /// Pictures that the pool of now has allocated.
    var allocationCount: Int { recent.withLock { $0?.pool.allocationCount ?? 0 } }
}

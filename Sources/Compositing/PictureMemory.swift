import MediaCore

/// Pools for the sizes that are in use.
struct PictureMemory {
    private struct Entry {
        var pool: PixelBufferPool
        var lastUse: Int
    }

    /// Sizes for which unused pictures are kept; what was not used for longest goes first.
    private static let maximumSizeCount = 16

    private var entries: [VideoDimensions: Entry] = [:]
    private var useCount = 0
    private var allocationsOfDroppedPools = 0

    /// Pictures allocated so far.
    var allocationCount: Int {
        entries.values.reduce(allocationsOfDroppedPools) { $0 + $1.pool.allocationCount }
    }

    /// An I420 picture to write, with undefined contents.
    mutating func makePicture(_ dimensions: VideoDimensions) -> MutablePixelBuffer {
        useCount += 1
        if let index = entries.index(forKey: dimensions) {
            entries.values[index].lastUse = useCount
            return entries.values[index].pool.makeBuffer()
        }
        if entries.count == Self.maximumSizeCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            allocationsOfDroppedPools += oldest.value.pool.allocationCount
            entries[oldest.key] = nil
        }
        let pool = PixelBufferPool(format: .i420, dimensions: dimensions)
        entries[dimensions] = Entry(pool: pool, lastUse: useCount)
        return pool.makeBuffer()
    }
}

import MediaCore

/// Pools for the sizes that are in use.
struct PictureMemory {
    private struct Entry {
        var pool: PixelBufferPool
        var lastUse: Int
    }

    /// The number of sizes for which unused pictures are kept; the least recently used one is removed first.
    private static let maximumSizeCount = 16
    /// The number of free buffers that are kept: this many receivers may have pictures of their own, which may all be
    /// released at once.
    private static let maximumFreeCount = 64

    private let format: PixelFormat
    private let rowAlignment: Int
    private var entries: [VideoDimensions: Entry] = [:]
    private var useCount = 0
    private var allocationsOfDroppedPools = 0

    /// - Parameter attributes: The requirements for the pictures, except their size; I420 if any format is accepted.
    init(attributes: PixelBufferAttributes) {
        format = attributes.formats.first ?? .i420
        rowAlignment = max(attributes.rowAlignment, 64)
    }

    /// Pictures allocated so far.
    var allocationCount: Int {
        entries.values.reduce(allocationsOfDroppedPools) { $0 + $1.pool.allocationCount }
    }

    /// A picture to write, with undefined contents.
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
        let configuration = PixelBufferPool.Configuration(
            maximumFreeCount: Self.maximumFreeCount, rowAlignment: rowAlignment)
        let pool = PixelBufferPool(format: format, dimensions: dimensions, configuration: configuration)
        entries[dimensions] = Entry(pool: pool, lastUse: useCount)
        return pool.makeBuffer()
    }
}

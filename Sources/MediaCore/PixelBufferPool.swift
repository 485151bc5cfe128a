/// Recycles pictures of one format and size. Safe to use from any thread.
///
/// A picture comes back when its last holder lets go. In steady state nothing is allocated: neither the memory of
/// pictures nor what holds it. A pool that has to push back when too many pictures are out is a `CappedPixelBufferPool`.
public final class PixelBufferPool: Sendable {
    /// What a pool keeps.
    public struct Configuration: Sendable {
        /// How many pictures are allocated at the start, and kept from then on until a `flush`.
        public var minimumCount: Int
        /// How many unused pictures are kept at most; never fewer than the minimum.
        public var maximumFreeCount: Int
        /// When unused pictures beyond the minimum are let go of; nil for never.
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

    /// How long a picture may lie unused, and by which clock.
    public struct Aging: Sendable {
        public var maximumAge: Duration
        public var clock: any MediaClock

        public init(maximumAge: Duration, clock: any MediaClock) {
            self.maximumAge = maximumAge
            self.clock = clock
        }
    }

    public var format: PixelFormat { shelf.format }
    public var dimensions: VideoDimensions { shelf.dimensions }
    private let shelf: PixelBufferShelf

    public init(format: PixelFormat, dimensions: VideoDimensions, configuration: Configuration = Configuration()) {
        shelf = PixelBufferShelf(
            format: format, dimensions: dimensions, configuration: configuration, maximumCount: .max)
    }

    /// A picture to write, with undefined contents and no attachments: a recycled one where there is one.
    public func makeBuffer() -> MutablePixelBuffer {
        // There is no cap that could be reached; the heap serves all the same.
        guard let storage = shelf.take() else { return MutablePixelBuffer(format: format, dimensions: dimensions) }
        return MutablePixelBuffer(storage: storage)
    }

    /// How many pictures the pool has allocated since it was made.
    public var allocationCount: Int { shelf.allocationCount }

    public var statistics: PixelBufferPoolStatistics { shelf.statistics }

    /// Lets go of unused pictures that are too old or too many. `makeBuffer` does too, so that this is only for pools
    /// that may not be used again for long.
    public func trim() { shelf.trim() }

    /// Lets go of all unused pictures, those of the minimum too.
    public func flush() { shelf.flush() }
}

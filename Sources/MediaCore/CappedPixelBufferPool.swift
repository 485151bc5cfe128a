/// A `PixelBufferPool` that has at most so many pictures, unused and in use: who wants more is told to wait.
public final class CappedPixelBufferPool: Sendable {
    public var format: PixelFormat { shelf.format }
    public var dimensions: VideoDimensions { shelf.dimensions }
    /// How many pictures there are at most.
    public var maximumCount: Int { shelf.maximumCount }
    private let shelf: PixelBufferShelf

    /// - Parameter maximumCount: At least 1. The configuration's minimum count is at most this.
    public init(
        format: PixelFormat, dimensions: VideoDimensions, maximumCount: Int,
        configuration: PixelBufferPool.Configuration = PixelBufferPool.Configuration()
    ) {
        shelf = PixelBufferShelf(
            format: format, dimensions: dimensions, configuration: configuration, maximumCount: max(1, maximumCount))
    }

    /// A picture to write, with undefined contents and no attachments: a recycled one where there is one.
    ///
    /// - Throws: `exhausted` while as many pictures as there may be are held.
    public func makeBuffer() throws(PixelBufferPoolError) -> MutablePixelBuffer {
        guard let storage = shelf.take() else { throw .exhausted(maximumCount: maximumCount) }
        return MutablePixelBuffer(storage: storage)
    }

    public var statistics: PixelBufferPoolStatistics { shelf.statistics }

    /// Lets go of unused pictures that are too old or too many, as `PixelBufferPool.trim` does.
    public func trim() { shelf.trim() }

    /// Lets go of all unused pictures, those of the minimum too.
    public func flush() { shelf.flush() }
}

/// Why a pool gave no picture.
public enum PixelBufferPoolError: Error, Hashable, Sendable {
    /// As many pictures as there may be are held.
    case exhausted(maximumCount: Int)
}

extension PixelBufferPoolError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exhausted(let maximumCount):
            "all \(maximumCount) pictures that the pool may have are in use; let go of one, or raise maximumCount"
        }
    }
}

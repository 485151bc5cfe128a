import MediaCore

/// A picture for tiles that are not drawn directly on a canvas. Tiles of any size share it, so that nothing is
/// allocated when their sizes change.
final class ScratchPage {
    var picture: MutablePixelBuffer
    private var shelf = PixelRect(x: 0, y: 0, width: 0, height: 0)

    /// Tiles begin at multiples of this: chroma rows too begin where SIMD loads like them to.
    private static let alignment = 64

    init(_ dimensions: VideoDimensions) {
        picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
    }

    var dimensions: VideoDimensions { picture.dimensions }

    /// Makes the whole page free again.
    func clear() { shelf = PixelRect(x: 0, y: 0, width: 0, height: 0) }

    /// A free place; nil if there is none left.
    func place(_ size: VideoDimensions) -> PixelRect? {
        guard size.width <= dimensions.width else { return nil }
        if shelf.width + size.width > dimensions.width {
            shelf = PixelRect(x: 0, y: shelf.maxY, width: 0, height: 0)
        }
        guard shelf.y + size.height <= dimensions.height else { return nil }
        let place = PixelRect(x: shelf.width, y: shelf.y, width: size.width, height: size.height)
        shelf.width = (place.maxX + Self.alignment - 1) & ~(Self.alignment - 1)
        shelf.height = max(shelf.height, size.height)
        return place
    }
}

/// Pages for one tick's tiles.
struct ScratchMemory {
    private var pages: [ScratchPage] = []
    private var isUsed = false
    private var idleTicks = 0
    /// Pages allocated so far.
    private(set) var allocationCount = 0

    /// The number of ticks for which unused pages are kept, since transitions come in runs.
    private static let patience = 300

    /// Makes all pages free again.
    mutating func beginTick() {
        idleTicks = isUsed ? 0 : idleTicks + 1
        isUsed = false
        if idleTicks > Self.patience { pages.removeAll() }
        for page in pages { page.clear() }
    }

    /// A free place on a page.
    ///
    /// - Parameter page: The least size of a page that is made for it.
    mutating func place(_ size: VideoDimensions, page pageSize: VideoDimensions) -> (page: ScratchPage, rect: PixelRect)
    {
        isUsed = true
        for page in pages {
            if let rect = page.place(size) { return (page, rect) }
        }
        let page = ScratchPage(
            VideoDimensions(
                width: max(size.width, pageSize.width), height: max(size.height, pageSize.height)))
        allocationCount += 1
        pages.append(page)
        return (page, page.place(size) ?? PixelRect(size))
    }
}

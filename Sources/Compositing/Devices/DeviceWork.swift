import MediaCore
import PixelTransfer

/// A canvas's layers as its device is told, and what the processor draws for them. It keeps its memory.
struct DeviceWork {
    /// A drawing that the processor finishes on the device's canvas.
    struct Rest {
        var index: Int
        /// True if the device shows the content, and only the decoration is left.
        var isDecoration: Bool
    }

    var layers: [PictureLayer] = []
    /// The black beside contained pictures, as far as it lies on the background.
    var bars: [PixelRect] = []
    private(set) var rest: [Rest] = []
    private var restAreas: [PixelRect] = []
    /// The content of the next sheet, and its places.
    private(set) var sheet: [LayerDecoration] = []
    private var sheetAreas: [PixelRect] = []

    var sheets = RecentDrawings<SheetContent>()
    var backdrops = RecentDrawings<Backdrop>()
    var tiles = RecentDrawings<PreparedTile>()
    var graphicsMemory = PictureMemory(attributes: PixelBufferAttributes(formats: [.bgra]))
    var pictureMemory = PictureMemory(attributes: PixelBufferAttributes(formats: [.i420]))
    /// Sheets are drawn on both.
    var black: ScratchPage?
    var white: ScratchPage?
    /// All black, for any rectangle.
    var blackPicture: PixelBuffer?

    mutating func beginTick() {
        sheets.beginTick()
        backdrops.beginTick()
        tiles.beginTick()
    }

    /// Forgets a canvas.
    mutating func end() {
        layers.removeAll(keepingCapacity: true)
        bars.removeAll(keepingCapacity: true)
        rest.removeAll(keepingCapacity: true)
        restAreas.removeAll(keepingCapacity: true)
        clearSheet()
    }

    // MARK: The processor's part

    /// Leaves a drawing to the processor, or its decoration, which lies in `area`.
    mutating func leave(_ index: Int, isDecoration: Bool = false, area: PixelRect) {
        rest.append(Rest(index: index, isDecoration: isDecoration))
        restAreas.append(area)
    }

    /// Returns true if the processor draws below a rectangle.
    func leavesAny(of rect: PixelRect) -> Bool { restAreas.contains { $0.overlaps(rect) } }

    // MARK: Sheets

    mutating func addToSheet(_ decoration: LayerDecoration, area: PixelRect) {
        sheet.append(decoration)
        sheetAreas.append(area)
    }

    func sheetCovers(_ rect: PixelRect) -> Bool { sheetAreas.contains { $0.overlaps(rect) } }

    /// The part of a canvas that the next sheet and overlays need; empty if there is nothing to show. At least `side`
    /// long and high.
    func sheetPlace(_ overlays: [PlacedOverlay], canvas: VideoDimensions, side: Int) -> PixelRect {
        var (left, top, right, bottom) = (canvas.width, canvas.height, 0, 0)
        func include(_ rect: PixelRect) {
            (left, top) = (min(left, rect.x), min(top, rect.y))
            (right, bottom) = (max(right, rect.maxX), max(bottom, rect.maxY))
        }
        for area in sheetAreas { include(area) }
        for overlay in overlays { include(overlay.rect) }
        guard right > left, bottom > top else { return PixelRect(x: 0, y: 0, width: 0, height: 0) }
        func span(_ start: Int, _ end: Int, of whole: Int) -> (start: Int, length: Int) {
            let length = min(max((end + 1) & ~1 - max(start, 0) & ~1, (side + 1) & ~1), whole)
            return (min(max(start, 0) & ~1, whole - length), length)
        }
        let (columns, rows) = (span(left, right, of: canvas.width), span(top, bottom, of: canvas.height))
        return PixelRect(x: columns.start, y: rows.start, width: columns.length, height: rows.length)
    }

    mutating func clearSheet() {
        sheet.removeAll(keepingCapacity: true)
        sheetAreas.removeAll(keepingCapacity: true)
    }
}

/// Decorations and overlays on one picture with transparency.
struct SheetContent: Equatable {
    var place: PixelRect
    var decorations: [LayerDecoration]
    var overlays: [PlacedOverlay]
}

/// The lowest layer, which shows the background beside and between pictures.
struct Backdrop: Equatable {
    var dimensions: VideoDimensions
    var background: CompositionBackground
    var bars: [PixelRect]
}

/// A tile that the processor draws, as its device does not show it.
struct PreparedTile: Equatable {
    var key: TileKey
    var appearance: LayerAppearance
    var frame: PixelRect
    var rect: PixelRect

    init(_ drawing: LayerDrawing) {
        key = drawing.key
        appearance = drawing.appearance
        frame = drawing.frame.relative(to: drawing.rect)
        rect = PixelRect(drawing.rect.dimensions)
    }
}

/// Pictures that were drawn for this tick or the one before, by what they show.
struct RecentDrawings<Content: Equatable> {
    private struct Entry {
        let content: Content
        let picture: PixelBuffer
        var lastTick: Int
    }

    private var entries: [Entry] = []
    private var tick = 0

    mutating func beginTick() {
        tick += 1
        entries.removeAll { $0.lastTick < tick - 1 }
    }

    mutating func picture(of content: Content) -> PixelBuffer? {
        guard let index = entries.firstIndex(where: { $0.content == content }) else { return nil }
        entries[index].lastTick = tick
        return entries[index].picture
    }

    mutating func keep(_ picture: PixelBuffer, of content: Content) {
        entries.append(Entry(content: content, picture: picture, lastTick: tick))
    }
}

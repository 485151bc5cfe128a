import MediaCore

/// Tiles that are drawn already, to copy from: on canvases of this tick and of the one before, and on scratch pages.
struct TileStore {
    enum Place {
        case canvas(PixelBuffer, PixelRect)
        case scratch(ScratchPage, PixelRect)
    }

    private struct Tile {
        var appearance: LayerAppearance
        var place: Place
    }

    private struct PaintedTile {
        var key: TileKey
        var appearance: LayerAppearance
        var rect: PixelRect
    }

    private var current: [TileKey: Tile] = [:]
    private var previous: [TileKey: Tile] = [:]
    private var scratch: [TileKey: Tile] = [:]
    /// The tiles on the canvas that is being painted.
    private var painted: [PaintedTile] = []

    mutating func beginTick() {
        swap(&current, &previous)
        current.removeAll(keepingCapacity: true)
        scratch.removeAll(keepingCapacity: true)
    }

    mutating func beginCanvas() { painted.removeAll(keepingCapacity: true) }

    /// Ends the canvas that was being painted.
    mutating func endCanvas(_ picture: PixelBuffer) {
        for tile in painted where current[tile.key] == nil {
            current[tile.key] = Tile(appearance: tile.appearance, place: .canvas(picture, tile.rect))
        }
        painted.removeAll(keepingCapacity: true)
    }

    /// Takes down a tile of the canvas that is being painted, which nothing will cover.
    mutating func add(_ drawing: LayerDrawing) {
        painted.append(PaintedTile(key: drawing.key, appearance: drawing.appearance, rect: drawing.rect))
    }

    mutating func add(_ drawing: LayerDrawing, on page: ScratchPage, _ rect: PixelRect) {
        scratch[drawing.key] = Tile(appearance: drawing.appearance, place: .scratch(page, rect))
    }

    /// The place of an equal tile on the canvas that is being painted.
    func paintedTile(_ drawing: LayerDrawing) -> PixelRect? {
        // Rarely is a source there twice.
        painted.first { $0.key == drawing.key && $0.appearance == drawing.appearance }?.rect
    }

    /// The place of an equal tile on a finished canvas or on a scratch page.
    func tile(_ drawing: LayerDrawing) -> Place? {
        if let tile = current[drawing.key], tile.appearance == drawing.appearance { return tile.place }
        if let tile = scratch[drawing.key], tile.appearance == drawing.appearance { return tile.place }
        if let tile = previous[drawing.key], tile.appearance == drawing.appearance { return tile.place }
        return nil
    }
}

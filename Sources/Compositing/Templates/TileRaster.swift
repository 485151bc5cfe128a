import MediaCore

/// Tiles of 16:9 in rows, all of one size and with a gap between them.
struct TileRaster {
    /// The place of each tile, in the order of sources.
    let cells: [PixelRect]

    /// - Parameters:
    ///   - tiling: The possible rasters; of a grid's the one with the largest tiles is used.
    ///   - gap: The gap between tiles; even.
    init(_ tiling: LayoutTemplate.Tiling, count: Int, gap: Int, in rect: PixelRect) {
        guard count > 0 else {
            cells = []
            return
        }
        switch tiling {
        case .single:
            cells = [rect]
        case .grid where gap == 0:
            cells = GridLayout.cells(count: count, canvas: rect.dimensions).map { cell in
                PixelRect(x: rect.x + cell.x, y: rect.y + cell.y, width: cell.width, height: cell.height)
            }
        case .grid:
            var best: (columns: Int, tile: VideoDimensions)?
            // From many columns to few: of equals the wider raster is taken.
            for columns in stride(from: count, through: 1, by: -1) {
                let tile = Self.tile(columns: columns, count: count, gap: gap, in: rect)
                if tile.area > best?.tile.area ?? 0 { best = (columns, tile) }
            }
            cells = best.map { Self.cells(columns: $0.columns, tile: $0.tile, count: count, gap: gap, in: rect) } ?? []
        case .row, .column:
            let columns = tiling == .row ? count : 1
            let tile = Self.tile(columns: columns, count: count, gap: gap, in: rect)
            cells = tile.area > 0 ? Self.cells(columns: columns, tile: tile, count: count, gap: gap, in: rect) : []
        }
    }

    /// The largest even size of 16:9; nothing if there is no room.
    private static func tile(columns: Int, count: Int, gap: Int, in rect: PixelRect) -> VideoDimensions {
        let rows = (count + columns - 1) / columns
        let width = (rect.width - (columns - 1) * gap) / columns
        let height = (rect.height - (rows - 1) * gap) / rows
        guard width >= 2, height >= 2 else { return VideoDimensions(width: 0, height: 0) }
        let isTooWide = width * 9 > height * 16
        return VideoDimensions(
            width: (isTooWide ? height * 16 / 9 : width) & ~1, height: (isTooWide ? height : width * 9 / 16) & ~1)
    }

    /// The cells in the middle of the slot; the last row is centred too.
    private static func cells(
        columns: Int, tile: VideoDimensions, count: Int, gap: Int, in rect: PixelRect
    ) -> [PixelRect] {
        let rows = (count + columns - 1) / columns
        let top = rect.y + (rect.height - rows * tile.height - (rows - 1) * gap) / 2 & ~1
        return (0..<count).map { index in
            let (row, column) = index.quotientAndRemainder(dividingBy: columns)
            let tilesInRow = min(columns, count - row * columns)
            let left = rect.x + (rect.width - tilesInRow * tile.width - (tilesInRow - 1) * gap) / 2 & ~1
            return PixelRect(
                x: left + column * (tile.width + gap), y: top + row * (tile.height + gap), width: tile.width,
                height: tile.height)
        }
    }
}

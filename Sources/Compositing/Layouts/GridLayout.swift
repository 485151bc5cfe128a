public import MediaCore

/// Lays tiles of 16:9 out on a canvas.
public enum GridLayout {
    /// The tiles of the grid that shows `count` 16:9 sources as large as possible on `canvas`, row by row.
    ///
    /// All tiles have one size. Positions and sizes are even, so that tiles start on a chroma sample. Of grids that
    /// fill the canvas equally well, the one with the fewest empty places is chosen, then the one with the fewest rows.
    /// The grid and its last row are centred. Tiles that come out as a whole fraction of the canvas are exactly that.
    ///
    /// - Returns: `count` rectangles; none if `count` is not positive or the canvas cannot hold that many tiles of 2x2
    ///   samples.
    public static func cells(count: Int, canvas: VideoDimensions) -> [PixelRect] {
        guard count > 0, let grid = bestGrid(count: count, canvas: canvas) else { return [] }
        let rows = (count + grid.columns - 1) / grid.columns
        let top = even((canvas.height - rows * grid.tile.height) / 2)
        return (0..<count).map { index in
            let (row, column) = index.quotientAndRemainder(dividingBy: grid.columns)
            let tilesInRow = min(grid.columns, count - row * grid.columns)
            let left = even((canvas.width - tilesInRow * grid.tile.width) / 2)
            return PixelRect(
                x: left + column * grid.tile.width, y: top + row * grid.tile.height,
                width: grid.tile.width, height: grid.tile.height)
        }
    }

    /// The sources, in this order, in the tiles of the best grid for their number.
    static func layers(_ sources: [SourceID], canvas: VideoDimensions) -> [CompositionLayer] {
        zip(sources, cells(count: sources.count, canvas: canvas)).map { CompositionLayer(source: $0, rect: $1) }
    }

    private struct Grid {
        var columns: Int
        var emptyPlaces: Int
        var tile: VideoDimensions
    }

    private static func bestGrid(count: Int, canvas: VideoDimensions) -> Grid? {
        var best: Grid?
        // From many columns to few: of equals, the wider grid was there first.
        for columns in stride(from: count, through: 1, by: -1) {
            let rows = (count + columns - 1) / columns
            let tile = tileSize(rows: rows, columns: columns, canvas: canvas)
            guard tile.width >= 2, tile.height >= 2 else { continue }
            let grid = Grid(columns: columns, emptyPlaces: rows * columns - count, tile: tile)
            guard let other = best else {
                best = grid
                continue
            }
            let isLarger = tile.area > other.tile.area
            if isLarger || (tile.area == other.tile.area && grid.emptyPlaces < other.emptyPlaces) { best = grid }
        }
        return best
    }

    /// The largest even 16:9 size that fits `rows` × `columns` times, each side rounded down from its exact value.
    private static func tileSize(rows: Int, columns: Int, canvas: VideoDimensions) -> VideoDimensions {
        let heightLimits = canvas.width * 9 * rows >= canvas.height * 16 * columns
        return heightLimits
            ? VideoDimensions(width: even(canvas.height * 16 / (9 * rows)), height: even(canvas.height / rows))
            : VideoDimensions(width: even(canvas.width / columns), height: even(canvas.width * 9 / (16 * columns)))
    }

    private static func even(_ value: Int) -> Int { value & ~1 }
}

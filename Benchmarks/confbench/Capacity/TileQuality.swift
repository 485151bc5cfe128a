import MediaCore
import PixelTransfer

/// Tiles, held against the pictures that their senders sent: the losses of scaling, composing and encoding again.
struct TileQuality {
    private struct Tile {
        var picture: PixelBuffer
        /// The size of the whole tile.
        var dimensions: VideoDimensions
        var number: Int
    }

    /// By sender.
    private var tiles: [Int: [Tile]] = [:]

    /// The compared part of a source's picture: without the mark, the frame that a tile may have, and the name, which
    /// takes the lower part of a small tile.
    private static let compared = PixelRect(x: 40, y: 80, width: 560, height: 128)

    /// Keeps the compared part of a tile.
    mutating func add(_ picture: PixelBuffer, tile: PixelRect, shows mark: FrameMark) {
        var part = Self.part(of: tile.dimensions)
        part.x += tile.x
        part.y += tile.y
        tiles[mark.sender, default: []].append(
            Tile(picture: picture.part(part).freeze(), dimensions: tile.dimensions, number: mark.number))
    }

    /// The compared part of a tile of this size, relative to the tile.
    private static func part(of tile: VideoDimensions) -> PixelRect {
        let source = Workload.sourceDimensions
        func even(_ value: Int, _ tile: Int, _ source: Int) -> Int { value * tile / source / 2 * 2 }
        return PixelRect(
            x: even(compared.x, tile.width, source.width), y: even(compared.y, tile.height, source.height),
            width: even(compared.width, tile.width, source.width),
            height: even(compared.height, tile.height, source.height))
    }

    /// Compares the tiles with the pictures of the clips, scaled to the tiles' size.
    ///
    /// - Returns: The errors of all together and the mean similarity; nil without tiles.
    func compare(with clips: [TestClip]) throws -> (error: SquaredError, similarity: Double)? {
        guard !tiles.isEmpty else { return nil }
        var (error, similarity) = (SquaredError(), Mean())
        for (sender, tiles) in tiles {
            let pictures = try clips[sender].pictures()
            for tile in tiles {
                guard let picture = pictures[tile.number] else { continue }
                let scaler = PixelTransferSession(
                    destination: PixelBufferAttributes(formats: [.i420], dimensions: tile.dimensions))
                let original = try scaler.transfer(picture).part(Self.part(of: tile.dimensions)).freeze()
                error += try PictureQuality.squaredError(tile.picture, original)
                similarity.add(try PictureQuality.ssim(tile.picture, original))
            }
        }
        return (error, similarity.value)
    }
}

import MediaCore
import PixelTransfer

/// Tiles, held against the pictures that their senders sent: the losses of scaling, composing and encoding again.
struct TileQuality {
    private struct Tile {
        var picture: PixelBuffer
        var number: Int
    }

    /// The size of a tile on the whole canvas. Tiles of a smaller picture are enlarged to it, as a viewer sees them.
    private let shown: VideoDimensions
    /// By sender.
    private var tiles: [Int: [Tile]] = [:]

    /// The compared part of a source's picture: without the mark, the frame that a tile may have, and the name, which
    /// takes the lower part of a small tile.
    private static let compared = PixelRect(x: 40, y: 80, width: 560, height: 128)

    init(shown: VideoDimensions) {
        self.shown = shown
    }

    /// Keeps a tile.
    mutating func add(_ picture: PixelBuffer, tile: PixelRect, shows mark: FrameMark) {
        tiles[mark.sender, default: []].append(Tile(picture: picture.part(tile).freeze(), number: mark.number))
    }

    /// The compared part of a shown tile.
    private var compared: PixelRect {
        let source = Workload.sourceDimensions
        func even(_ value: Int, _ tile: Int, _ source: Int) -> Int { value * tile / source / 2 * 2 }
        return PixelRect(
            x: even(Self.compared.x, shown.width, source.width), y: even(Self.compared.y, shown.height, source.height),
            width: even(Self.compared.width, shown.width, source.width),
            height: even(Self.compared.height, shown.height, source.height))
    }

    /// Compares the tiles with the pictures of the clips, both in the shown size.
    ///
    /// - Returns: The errors of all together and the mean similarity; nil without tiles.
    func compare(with clips: [TestClip]) throws -> (error: SquaredError, similarity: Double)? {
        guard !tiles.isEmpty else { return nil }
        let scaler = PixelTransferSession(
            destination: PixelBufferAttributes(formats: [.i420], dimensions: shown))
        var (error, similarity) = (SquaredError(), Mean())
        for (sender, tiles) in tiles {
            let pictures = try clips[sender].pictures()
            for tile in tiles {
                guard let picture = pictures[tile.number] else { continue }
                let original = try scaler.transfer(picture).part(compared).freeze()
                let received = try scaler.transfer(tile.picture).part(compared).freeze()
                error += try PictureQuality.squaredError(received, original)
                similarity.add(try PictureQuality.ssim(received, original))
            }
        }
        return (error, similarity.value)
    }
}

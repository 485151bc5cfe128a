import MediaCore

/// A label to be drawn: a name and icons on a rounded plate, in a size.
struct Label: Hashable, Sendable {
    /// The name as received; it is cleaned when it is drawn.
    var text: String
    /// The length of the text, if there is room.
    var length = DisplayText.Length.name
    var icons: LabelIcons = []
    /// The plate's height in pixels, which determines the size of its text. Clamped to `heightRange` when it is drawn.
    var height: Int
    /// The largest width of the plate, in pixels. A name that does not fit ends with an ellipsis.
    var maximumWidth: Int

    static let heightRange = 8...256
    /// The widest plate.
    static let widthLimit = 4096
}

/// The position of a label in a tile, and the sizes of the label and of the tile's border, which follow the tile's
/// height.
struct TileLabelMetrics: Hashable {
    /// The plate's height in pixels; even, so that it covers whole chroma samples.
    let height: Int
    /// The width of the widest plate that keeps off the tile's edges and round corners; a multiple of 8, so that tiles
    /// of similar size share labels.
    let maximumWidth: Int
    /// The distance of the plate from the tile's left and lower edge; even.
    let margin: Int

    private static let plateHeights = 18...44
    private static let smallestTile = VideoDimensions(width: 64, height: 60)

    /// Creates the label of a tile; nil if the tile is too small for a readable label.
    init?(tile: VideoDimensions, cornerRadius: Int = 0) {
        guard tile.width >= Self.smallestTile.width, tile.height >= Self.smallestTile.height else { return nil }
        // An eleventh or so: 30 of 360, 44 of 720.
        let proportion = tile.height / 12
        height = min(max(proportion, Self.plateHeights.lowerBound), Self.plateHeights.upperBound) & ~1
        margin = Self.margin(height: height, cornerRadius: cornerRadius)
        maximumWidth = (tile.width - 2 * margin) & ~7
    }

    /// The distance of a plate of this height from the edges; larger if a round corner, whose arc is 0.29 of its radius
    /// from the corner, would cut it.
    static func margin(height: Int, cornerRadius: Int) -> Int {
        (height / 3 & ~1) + (cornerRadius * 29 / 100 & ~1)
    }
}

import MediaCore
import PixelTransfer

/// A label and its bitmap. Two are equal where they show the same.
struct DrawnLabel: Equatable {
    let label: Label
    let bitmap: OverlayBitmap

    static func == (left: DrawnLabel, right: DrawnLabel) -> Bool { left.label == right.label }
}

/// Draws what lies over tiles: labels at the lower left, and a border around who speaks.
struct TileDecorator {
    private var labels = LabelCache()
    /// By width; tiles of many sizes have few.
    private var borders: [Int: RoundedShape] = [:]

    private static let borderWidths = 2...6
    private static let speakingColour = YCbCrColour(red: 0.20, green: 0.83, blue: 0.42)

    var labelRenderCount: Int { labels.renderCount }

    mutating func beginPass() { labels.beginPass() }

    /// The label of a tile; nil where there is no room for one, or none yet.
    ///
    /// - Parameter previous: What the tile had before, which mostly is what it has now.
    mutating func label(
        _ name: String, _ decoration: TileDecoration, size: VideoDimensions, previously previous: DrawnLabel?
    ) -> DrawnLabel? {
        guard let metrics = TileLabelMetrics(tile: size) else { return nil }
        let label = Label(
            text: name, icons: decoration.icons, height: metrics.height, maximumWidth: metrics.maximumWidth)
        if let previous, previous.label == label { return previous }
        return labels.bitmap(for: label).map { DrawnLabel(label: label, bitmap: $0) }
    }

    /// Draws over a finished tile, and nowhere else.
    mutating func decorate(_ tile: I420Region, label: DrawnLabel?, isSpeaking: Bool) {
        let size = tile.dimensions
        if isSpeaking {
            let width = min(max(size.height / 90 & ~1, Self.borderWidths.lowerBound), Self.borderWidths.upperBound)
            tile.fill(PixelRect(size), shape: border(width: width), with: Self.speakingColour)
        }
        if let label, let metrics = TileLabelMetrics(tile: size) {
            tile.blend(
                label.bitmap, x: metrics.margin, y: size.height - metrics.margin - label.bitmap.dimensions.height)
        }
    }

    private mutating func border(width: Int) -> RoundedShape {
        if let known = borders[width] { return known }
        let shape = RoundedShape(.border(width: width), radius: 0)
        borders[width] = shape
        return shape
    }
}

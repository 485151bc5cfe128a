import MediaCore
import PixelTransfer

/// A label and its bitmap. Two are equal if they show the same.
final class DrawnLabel: Equatable {
    let label: Label
    let bitmap: OverlayBitmap

    init(label: Label, bitmap: OverlayBitmap) {
        self.label = label
        self.bitmap = bitmap
    }

    static func == (left: DrawnLabel, right: DrawnLabel) -> Bool { left === right || left.label == right.label }
}

/// Makes the decorations of tiles: labels at the lower left, and a border around the speaker.
struct TileDecorator {
    private var labels = LabelCache()

    private static let borderWidths = 2...6
    static let speakingColour = YCbCrColour(red: 0.20, green: 0.83, blue: 0.42)

    var labelRenderCount: Int { labels.renderCount }

    mutating func beginPass() { labels.beginPass() }

    /// The label of a tile; nothing if there is no room for one.
    mutating func label(
        _ name: String, _ decoration: TileDecoration, size: VideoDimensions, cornerRadius: Int
    ) -> LabelCache.Answer {
        guard let metrics = TileLabelMetrics(tile: size, cornerRadius: cornerRadius) else { return .nothing }
        return labels.label(
            Label(text: name, icons: decoration.icons, height: metrics.height, maximumWidth: metrics.maximumWidth))
    }

    /// The place of a label at the lower left of a frame, with the margin of its tile.
    func place(of label: DrawnLabel, at frame: PixelRect, cornerRadius: Int) -> PixelRect {
        let margin = TileLabelMetrics.margin(height: label.label.height, cornerRadius: cornerRadius)
        let size = label.bitmap.dimensions
        return PixelRect(
            x: frame.x + margin, y: frame.maxY - margin - size.height, width: size.width, height: size.height)
    }

    func draw(_ label: DrawnLabel, at frame: PixelRect, cornerRadius: Int, on tile: I420Region) {
        let place = place(of: label, at: frame, cornerRadius: cornerRadius)
        tile.blend(label.bitmap, x: place.x, y: place.y)
    }

    static func speakingBorderWidth(_ tile: VideoDimensions) -> Int {
        min(max(tile.height / 90 & ~1, borderWidths.lowerBound), borderWidths.upperBound)
    }
}

import MediaCore
import PixelTransfer

/// The content of a layer, for comparison. Pictures are compared by identity.
enum LayerContent: Equatable {
    case placeholder(name: String, avatar: ImageAsset?, size: VideoDimensions)
    case picture(PixelBuffer, rotation: VideoRotation, isStale: Bool)

    static func == (left: LayerContent, right: LayerContent) -> Bool {
        switch (left, right) {
        case (.placeholder(let left, let leftAvatar, let leftSize), .placeholder(let right, let avatar, let size)):
            left == right && leftAvatar == avatar && leftSize == size
        case (.picture(let left, let leftRotation, let leftIsStale), .picture(let right, let rotation, let isStale)):
            left === right && leftRotation == rotation && leftIsStale == isStale
        default: false
        }
    }
}

/// The appearance of a tile, for comparison.
struct LayerAppearance: Equatable {
    var content: LayerContent
    var label: DrawnLabel?
    var isSpeaking = false
}

/// A layer drawn in one size: equal keys and appearances mean equal samples.
struct TileKey: Hashable {
    var source: SourceID
    var size: VideoDimensions
    var fit: LayerFit
    var border: LayerBorder?
    var cornerRadius: Int
    /// The colour beside round corners, if they are drawn with the tile.
    var cornerColour: YCbCrColour?
}

/// A layer to be painted.
struct LayerDrawing {
    var key: TileKey
    var appearance: LayerAppearance
    /// The whole layer's rectangle; even.
    var frame: PixelRect
    /// The part of the layer on the canvas; even, not empty.
    var rect: PixelRect
    var zOrder: Int
    var opacity: Opacity
    /// The round corners, if there are any.
    var shape: RoundedShape?
    /// True if the layer is drawn by itself and then blended.
    var isBlended = false
    /// True if nothing of the layer is visible.
    var isHidden = false

    /// True if all of the layer is on the canvas. Only then another canvas can have the same samples.
    var isWhole: Bool { frame == rect }
    /// True if nothing shows through the layer, except at its corners.
    var isOpaque: Bool { opacity == .opaque }

    /// Calls `body` with rectangles that hide all that is under them.
    func forEachOpaquePart(_ body: (PixelRect) -> Void) {
        guard isOpaque else { return }
        guard isBlended, let shape else { return body(rect) }
        // Up to the next chroma sample.
        let inset = (shape.radius + 1) & ~1
        var (rows, columns) = (frame, frame)
        (rows.y, rows.height) = (frame.y + inset, frame.height - 2 * inset)
        (columns.x, columns.width) = (frame.x + inset, frame.width - 2 * inset)
        if !rows.isEmpty { body(rows.intersection(rect)) }
        if !columns.isEmpty { body(columns.intersection(rect)) }
    }
}

/// All that is drawn on top of a layer's content. Equal ones look the same.
struct LayerDecoration: Equatable {
    /// The whole layer's rectangle.
    var frame: PixelRect
    /// The part of the layer that is drawn.
    var rect: PixelRect
    var border: LayerBorder?
    var isSpeaking: Bool
    var label: DrawnLabel?
    var cornerRadius: Int
    var cornerColour: YCbCrColour?

    /// The decoration of a drawing, in a region whose origin is that of `region`.
    init(_ drawing: LayerDrawing, in region: PixelRect) {
        frame = drawing.frame.relative(to: region)
        rect = drawing.rect.relative(to: region)
        border = drawing.key.border
        isSpeaking = drawing.appearance.isSpeaking
        label = drawing.appearance.label
        cornerRadius = drawing.key.cornerRadius
        cornerColour = drawing.key.cornerColour
    }

    /// The same decoration in a region whose origin is that of `region`.
    func seen(from region: PixelRect) -> LayerDecoration {
        var decoration = self
        decoration.frame = frame.relative(to: region)
        decoration.rect = rect.relative(to: region)
        return decoration
    }

    /// True if there is nothing to draw.
    var isEmpty: Bool { (border?.width ?? 0) <= 0 && !isSpeaking && label == nil && cornerColour == nil }
}

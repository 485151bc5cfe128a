import CPangoCairo
import MediaCore
import PixelTransfer

/// Draws placeholders and keeps recent ones, so that a name is laid out once for each tile size.
struct PlaceholderRenderer {
    struct Placeholder {
        var picture: PixelBuffer
        /// The colour around the initial or the avatar.
        var colour: YCbCrColour
    }

    private struct Key: Hashable {
        var name: String
        var avatar: ImageAsset?
        var size: VideoDimensions
    }

    /// The side of an avatar, as a part of the tile's shorter one.
    private static let avatarPart = 0.62
    private static let letterPart = 0.5

    private var placeholders: RecentlyUsed<Key, Placeholder>
    /// The number of placeholders that were drawn.
    private(set) var renderCount = 0

    /// - Parameter capacity: The number of luma samples that are kept in all.
    init(capacity: Int = 24 << 20) {
        placeholders = RecentlyUsed(capacity: capacity)
    }

    /// The placeholder of a name in exactly this size, which is even: its initial, or an avatar in a circle, on a
    /// colour that the name always has.
    mutating func placeholder(name: String, avatar: ImageAsset?, size: VideoDimensions) -> Placeholder {
        let key = Key(name: name, avatar: avatar, size: size)
        if let placeholder = placeholders.use(key) { return placeholder }
        let style = PlaceholderStyle(name: name)
        let (red, green, blue) = style.colour
        let colour = YCbCrColour(red: red, green: green, blue: blue)
        let picture = PixelBuffer.drawn(size, orFilledWith: colour) { context in
            cairo_set_source_rgb(context, red, green, blue)
            cairo_paint(context)
            if let avatar {
                Self.draw(avatar, size: size, on: context)
            } else {
                FontCollection.use { Self.draw(style.initial, size: size, on: context, with: $0) }
            }
        }
        // The colour after the conversion by cairo and libyuv.
        let placeholder = Placeholder(picture: picture, colour: picture.firstColour)
        renderCount += 1
        placeholders.keep(placeholder, for: key, cost: size.area)
        return placeholder
    }

    private static func draw(_ avatar: ImageAsset, size: VideoDimensions, on context: OpaquePointer?) {
        let side = Int(Double(min(size.width, size.height)) * avatarPart) & ~1
        let rect = PixelRect(x: (size.width - side) / 2, y: (size.height - side) / 2, width: side, height: side)
        cairo_arc(
            context, Double(size.width) / 2, Double(size.height) / 2, Double(side) / 2, 0, 2 * .pi)
        cairo_clip(context)
        avatar.draw(on: context, covering: rect)
    }

    private static func draw(
        _ initial: String, size: VideoDimensions, on context: OpaquePointer?, with fonts: FontCollection
    ) {
        let fontSize = Double(min(size.width, size.height)) * letterPart
        guard let line = fonts.layOut(initial, size: fontSize) else { return }
        cairo_set_source_rgb(context, 1, 1, 1)
        // Centred by the ink: a letter's line has unequal room above and below.
        line.draw(
            on: context, x: Double(size.width - line.ink.width) / 2 - Double(line.ink.x),
            y: Double(size.height - line.ink.height) / 2 - Double(line.ink.y))
    }
}

extension PixelBuffer {
    /// The colour of the first sample of a planar picture.
    fileprivate var firstColour: YCbCrColour {
        withPlanes { planes in
            func first(_ index: Int) -> UInt8 { planes[index].base.load(as: UInt8.self) }
            return YCbCrColour(y: first(0), u: first(1), v: first(2))
        }
    }
}

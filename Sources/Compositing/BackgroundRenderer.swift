import CPangoCairo
import MediaCore
import PixelTransfer

/// Background images in the sizes of canvases, each scaled once and kept while it is in use.
struct BackgroundRenderer {
    private struct Key: Hashable {
        var image: ImageAsset
        var size: VideoDimensions
    }

    /// The capacity is the number of luma samples that are kept in all.
    private var pictures = RecentlyUsed<Key, PixelBuffer>(capacity: 16 << 20)
    /// The number of images that were scaled.
    private(set) var renderCount = 0

    /// The image, covering a canvas of this size; its transparent parts show the standard background.
    mutating func picture(_ image: ImageAsset, size: VideoDimensions) -> PixelBuffer {
        let key = Key(image: image, size: size)
        if let picture = pictures.use(key) { return picture }
        let colour = CompositionBackground.standardColour
        let picture = PixelBuffer.drawn(size, orFilledWith: colour) { context in
            // Video grey, as a computer's screen shows it.
            let grey = (Double(colour.y) - 16) / 219
            cairo_set_source_rgb(context, grey, grey, grey)
            cairo_paint(context)
            image.draw(on: context, covering: PixelRect(size))
        }
        renderCount += 1
        pictures.keep(picture, for: key, cost: size.area)
        return picture
    }
}

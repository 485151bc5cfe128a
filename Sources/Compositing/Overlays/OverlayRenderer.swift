public import MediaCore
import PixelTransfer

/// Turns overlays into bitmaps at their places, each drawn once and kept while it is in use.
///
/// Composing asks for its overlays in every picture and gets the last result if nothing changed; then nothing is
/// allocated. New overlays are drawn at once, but only a few in one call: the others are missing in this picture and
/// drawn in the next ones. A clock is drawn once a second.
///
/// Overlays of one anchor stand one after the other, away from their edge, so that none hides another; in the centre
/// they overlap. All keep a margin from the canvas's edges if there is room, and none exceeds the canvas: a wide image
/// is scaled down, a long text ends with an ellipsis.
///
/// A renderer belongs to one caller at a time.
public struct OverlayRenderer {
    /// The largest number of overlays that are shown.
    public static let maximumCount = 16
    /// The number of overlays that are drawn in one call.
    static let rendersPerCall = 2
    /// Enough for a few over all of a large canvas; usual ones take a few hundred kilobytes in all.
    static let defaultCapacity = 128 << 20
    /// The number of kept results, one for each canvas and list of overlays.
    private static let keptResultCount = 8

    /// The bitmaps; nil for an overlay that cannot be drawn.
    private var bitmaps: RecentlyUsed<OverlayArtwork, OverlayBitmap?>
    /// The text of each clock now.
    private var clocks: [ClockKey: Drawing] = [:]
    private var results: [KeptResult] = []
    /// The number of overlays that may still be drawn in this call.
    private var rendersLeft = 0
    /// True if the last call could draw everything.
    private(set) var isComplete = true
    /// The number of overlays that were drawn.
    private(set) var renderCount = 0

    private struct ClockKey: Hashable {
        var utcOffset: Int
        var height: Int
        var maximumWidth: Int
    }

    private struct Drawing {
        var artwork: OverlayArtwork
        var bitmap: OverlayBitmap?
    }

    /// The last result for a list of overlays on a canvas.
    private struct KeptResult {
        var canvas: VideoDimensions
        var overlays: [CompositionOverlay]
        /// The shown time of the overlays' clocks; nil if there is no clock.
        var wallClock: Int64?
        var placed: [PlacedOverlay]
    }

    /// - Parameter capacity: The memory of the kept bitmaps, in bytes.
    init(capacity: Int) {
        bitmaps = RecentlyUsed(capacity: capacity)
    }

    public init() { self.init(capacity: Self.defaultCapacity) }

    /// The overlays in the order in which they are blended, without invisible ones.
    ///
    /// - Parameters:
    ///   - canvas: The canvas's size; at most 8192 samples a side.
    ///   - wallClock: The time that clocks show, in Unix seconds; without it there are no clocks.
    public mutating func overlays(
        _ overlays: [CompositionOverlay], canvas: VideoDimensions, wallClock: Int64?
    ) -> [PlacedOverlay] {
        isComplete = true
        guard !overlays.isEmpty, (2...8192).contains(canvas.width), (2...8192).contains(canvas.height) else {
            return []
        }
        let shownTime = overlays.contains(where: \.content.isClock) ? wallClock : nil
        let known = results.firstIndex { $0.canvas == canvas && $0.overlays == overlays }
        if let known, results[known].wallClock == shownTime { return results[known].placed }

        rendersLeft = Self.rendersPerCall
        let placed = place(overlays.prefix(Self.maximumCount), on: canvas, wallClock: wallClock)
        if let known { results.remove(at: known) }
        if isComplete {
            if results.count == Self.keptResultCount { results.removeFirst() }
            results.append(KeptResult(canvas: canvas, overlays: overlays, wallClock: shownTime, placed: placed))
        }
        return placed
    }

    private mutating func place(
        _ overlays: ArraySlice<CompositionOverlay>, on canvas: VideoDimensions, wallClock: Int64?
    ) -> [PlacedOverlay] {
        var stack = OverlayStack(canvas: canvas)
        return overlays.compactMap { overlay in
            let opacity = Opacity(overlay.opacity)
            guard opacity != .transparent, let height = stack.height(of: overlay),
                let drawing = drawing(of: overlay.content, height: height, stack: stack, wallClock: wallClock),
                let bitmap = drawing.bitmap
            else { return nil }
            let (x, y) = stack.place(bitmap.dimensions, at: overlay.anchor)
            return PlacedOverlay(artwork: drawing.artwork, bitmap: bitmap, x: x, y: y, opacity: opacity)
        }
    }

    private mutating func drawing(
        of content: CompositionOverlay.Content, height: Int, stack: OverlayStack, wallClock: Int64?
    ) -> Drawing? {
        switch content {
        case .image(let image):
            kept(.image(image, stack.size(of: image.picture.dimensions, height: height)))
        case .text(let text):
            kept(.text(Self.plate(text, height: height, stack: stack)))
        case .clock(let utcOffset):
            wallClock.flatMap { wallClock in
                let text = ClockFace.text(wallClock: wallClock, utcOffset: utcOffset)
                return clock(.text(Self.plate(text, height: height, stack: stack)), utcOffset: utcOffset)
            }
        }
    }

    private static func plate(_ text: String, height: Int, stack: OverlayStack) -> Label {
        // An even height, so that the plate covers whole chroma samples.
        let height = min(max(height, Label.heightRange.lowerBound), Label.heightRange.upperBound) & ~1
        return Label(text: text, length: .line, height: height, maximumWidth: stack.maximumWidth)
    }

    private mutating func kept(_ artwork: OverlayArtwork) -> Drawing? {
        if let known = bitmaps.use(artwork) { return Drawing(artwork: artwork, bitmap: known) }
        guard mayRender() else { return nil }
        let bitmap = artwork.render()
        bitmaps.keep(bitmap, for: artwork, cost: (bitmap?.byteCount ?? 0) + artwork.byteCount)
        return Drawing(artwork: artwork, bitmap: bitmap)
    }

    /// Draws a clock. It is not kept, because a past second is not needed again.
    private mutating func clock(_ artwork: OverlayArtwork, utcOffset: Int) -> Drawing? {
        guard case .text(let label) = artwork else { return nil }
        let key = ClockKey(utcOffset: utcOffset, height: label.height, maximumWidth: label.maximumWidth)
        let known = clocks[key]
        if let known, known.artwork == artwork { return known }
        // Late by a picture rather than gone for one.
        guard mayRender() else { return known }
        if clocks.count >= Self.keptResultCount * Self.maximumCount { clocks = [:] }
        let drawing = Drawing(artwork: artwork, bitmap: artwork.render())
        clocks[key] = drawing
        return drawing
    }

    private mutating func mayRender() -> Bool {
        guard rendersLeft > 0 else {
            isComplete = false
            return false
        }
        rendersLeft -= 1
        renderCount += 1
        return true
    }
}

extension CompositionOverlay.Content {
    fileprivate var isClock: Bool {
        if case .clock = self { true } else { false }
    }
}

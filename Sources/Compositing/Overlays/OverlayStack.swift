import MediaCore

/// The positions of overlays on a canvas, one after the other.
struct OverlayStack {
    private let canvas: VideoDimensions
    /// The free margin at the canvas's edges, if there is room for it; even.
    let margin: Int
    /// The distance of the next overlay of each anchor from its edge.
    private var offsets: [CompositionOverlay.Anchor: Int] = [:]

    init(canvas: VideoDimensions) {
        self.canvas = canvas
        margin = min(canvas.width, canvas.height) / 36 & ~1
    }

    /// The width of the widest plate that keeps off the edges; a multiple of 8, so that canvases of similar size share
    /// texts.
    var maximumWidth: Int { (canvas.width - 2 * margin) & ~7 }

    /// The height in luma samples; nil if nothing is visible.
    func height(of overlay: CompositionOverlay) -> Int? {
        guard overlay.height > 0 else { return nil }
        return max(1, Int((min(overlay.height, 1) * Double(canvas.height)).rounded()))
    }

    /// The size of an image of this height: in its own shape, no wider than the canvas.
    func size(of image: VideoDimensions, height: Int) -> VideoDimensions {
        let width = (image.width * height + image.height / 2) / image.height
        guard width > canvas.width else { return VideoDimensions(width: max(1, width), height: height) }
        return VideoDimensions(
            width: canvas.width, height: max(1, (image.height * canvas.width + image.width / 2) / image.width))
    }

    /// Places an overlay that is no larger than the canvas. The next one of its anchor is placed after it.
    mutating func place(_ size: VideoDimensions, at anchor: CompositionOverlay.Anchor) -> (x: Int, y: Int) {
        let (freeWidth, freeHeight) = (max(0, canvas.width - size.width), max(0, canvas.height - size.height))
        let x =
            switch anchor {
            case .topLeft, .bottomLeft: min(margin, freeWidth)
            case .top, .centre, .bottom: freeWidth / 2 & ~1
            case .topRight, .bottomRight: max(0, freeWidth - margin)
            }
        guard anchor != .centre else { return (x, freeHeight / 2 & ~1) }
        let offset = offsets[anchor] ?? margin
        offsets[anchor] = offset + size.height + margin / 2 & ~1
        let isAtTop = anchor == .topLeft || anchor == .top || anchor == .topRight
        return (x, isAtTop ? min(offset, freeHeight) : max(0, freeHeight - offset))
    }
}

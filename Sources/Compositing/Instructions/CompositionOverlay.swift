/// Something drawn above all layers: a logo, a line of text, a clock, a watermark.
public struct CompositionOverlay: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case image(ImageAsset)
        /// One line of white text on a dark plate, like labels.
        case text(String)
        /// The time of day, hours, minutes and seconds, this many minutes ahead of UTC.
        case clock(utcOffset: Int)
    }

    /// The position on the canvas. All positions keep the same distance from the edges.
    public enum Anchor: String, Codable, Hashable, Sendable, CaseIterable {
        case topLeft = "top-left"
        case top
        case topRight = "top-right"
        case centre
        case bottomLeft = "bottom-left"
        case bottom
        case bottomRight = "bottom-right"
    }

    public var content: Content
    public var anchor: Anchor
    /// The overlay's height as a fraction of the canvas's, from 0 to 1.
    public var height: Double
    /// The opacity from 0 (invisible) to 1. A watermark is an image or text of low opacity.
    public var opacity: Double

    public init(_ content: Content, anchor: Anchor, height: Double, opacity: Double = 1) {
        self.content = content
        self.anchor = anchor
        self.height = height
        self.opacity = opacity
    }
}

public import MediaCore

/// How a picture takes a tile of another shape.
public enum TileFit: Hashable, Sendable {
    /// All of it is seen, between black bars.
    case contain
    /// It fills the tile; what is too wide or too high is cut off evenly on both sides.
    case cover
}

/// A source's place on the canvas.
public struct Tile: Hashable, Sendable {
    public var source: SourceID
    /// Where on the canvas; what is odd or outside is trimmed to even positions inside the canvas.
    public var rect: PixelRect
    public var fit: TileFit

    public init(source: SourceID, rect: PixelRect, fit: TileFit = .contain) {
        self.source = source
        self.rect = rect
        self.fit = fit
    }
}

public import MediaCore

/// A canvas to compose: its size and which source is shown where.
///
/// Tiles are painted in order. A tile whose source is not among those given to the compositor stays background.
public struct CompositionRequest: Hashable, Sendable {
    /// The size of the picture asked for; both sides at least 2.
    public var canvas: VideoDimensions
    public var tiles: [CompositionLayer]

    public init(canvas: VideoDimensions, tiles: [CompositionLayer]) {
        self.canvas = canvas
        self.tiles = tiles
    }
}

extension CompositionRequest {
    /// A request that shows `sources`, in this order, in the best grid for their number.
    public init(grid sources: [SourceID], canvas: VideoDimensions) {
        self.init(canvas: canvas, tiles: GridLayout.layers(sources, canvas: canvas))
    }
}

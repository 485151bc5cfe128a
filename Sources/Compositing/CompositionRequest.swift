public import MediaCore

/// A canvas to compose: its size and which source is shown where.
///
/// Tiles are painted in order. A tile whose source is not among those given to the compositor stays background.
public struct CompositionRequest: Hashable, Sendable {
    /// A source's place on the canvas.
    public struct Tile: Hashable, Sendable {
        public var source: ParticipantID
        /// Where on the canvas; what is odd or outside is trimmed to even positions inside the canvas.
        public var rect: PixelRect

        public init(source: ParticipantID, rect: PixelRect) {
            self.source = source
            self.rect = rect
        }
    }

    /// The size of the picture asked for; both sides at least 2.
    public var canvas: VideoDimensions
    public var tiles: [Tile]

    public init(canvas: VideoDimensions, tiles: [Tile]) {
        self.canvas = canvas
        self.tiles = tiles
    }
}

extension CompositionRequest {
    /// A request that shows `sources`, in this order, in the best grid for their number.
    public init(grid sources: [ParticipantID], canvas: VideoDimensions) {
        let cells = GridLayout.cells(count: sources.count, canvas: canvas)
        self.init(canvas: canvas, tiles: zip(sources, cells).map { Tile(source: $0, rect: $1) })
    }
}

public import MediaCore

/// A picture to compose: its size and its instruction.
public struct CompositionRequest: Hashable, Sendable {
    /// The size of the picture asked for; both sides at least 2.
    public var canvas: VideoDimensions
    public var instruction: CompositionInstruction

    public init(canvas: VideoDimensions, instruction: CompositionInstruction) {
        self.canvas = canvas
        self.instruction = instruction
    }

    /// A request for layers that stand still, at all times.
    public init(canvas: VideoDimensions, layers: [CompositionLayer]) {
        self.init(canvas: canvas, instruction: CompositionInstruction(timeRange: .all, layers: layers))
    }

    /// A request that shows `sources`, in this order, in the best grid for their number.
    public init(grid sources: [SourceID], canvas: VideoDimensions) {
        self.init(canvas: canvas, layers: GridLayout.layers(sources, canvas: canvas))
    }
}

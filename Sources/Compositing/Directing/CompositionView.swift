/// The appearance of a canvas after all transitions.
public struct CompositionView: Hashable, Sendable {
    public var background: CompositionBackground
    /// The layers from the lowest to the highest, without ramps.
    public var layers: [CompositionLayer]
    /// The overlays above all layers, in this order.
    public var overlays: [CompositionOverlay]

    public init(
        background: CompositionBackground = .standard, layers: [CompositionLayer] = [],
        overlays: [CompositionOverlay] = []
    ) {
        self.background = background
        self.layers = layers
        self.overlays = overlays
    }
}

public import MediaCore
public import PixelTransfer

/// A picture over a time range: its required sources, its layers and their changes.
///
/// It follows AVFoundation's `AVVideoCompositionInstruction`.
public struct CompositionInstruction: Hashable, Sendable {
    /// The time range for which the instruction holds.
    public var timeRange: MediaTimeRange
    /// The background in places without a layer. Nil means the compositor's own background, and is an error unless the
    /// layers cover the canvas.
    public var background: CompositionBackground?
    public var layers: [CompositionLayer]
    /// The overlays above all layers, in this order.
    public var overlays: [CompositionOverlay]
    /// The sources whose pictures are needed; others need not be decoded. Never all of them just in case.
    public var requiredSources: Set<SourceID>
    /// The source that is shown unchanged on all of the canvas. If its picture has the canvas's size and is upright and
    /// fresh, it is returned itself, and nothing is composed. Nil if the layers say more than that.
    public var passthroughSource: SourceID?

    /// - Parameter passthroughSource: The source that is shown unchanged; none by default. See
    ///   `CompositionInstruction.init(showing:...)`.
    public init(
        timeRange: MediaTimeRange, background: CompositionBackground? = .standard, layers: [CompositionLayer],
        overlays: [CompositionOverlay] = [], passthroughSource: SourceID? = nil
    ) {
        self.timeRange = timeRange
        self.background = background
        self.layers = layers
        self.overlays = overlays
        self.requiredSources = Set(layers.map(\.source))
        self.passthroughSource = passthroughSource
    }

    /// True if the picture changes over time although no source does. If false, pictures of the same sources are equal
    /// and rendered once.
    public var containsTweening: Bool { layers.contains(where: \.containsTweening) }

    /// The picture at a time: the layers with place and opacity evaluated, from the lowest to the highest.
    public func resolvedLayers(at time: MediaTime) -> [CompositionLayer] {
        layers.map { $0.resolved(at: time) }.fromLowest
    }
}

extension [CompositionLayer] {
    /// The layers from the lowest to the highest; those of one height stay in order.
    var fromLowest: [CompositionLayer] {
        if zip(self, dropFirst()).allSatisfy({ $0.zOrder <= $1.zOrder }) { return self }
        return enumerated().sorted {
            ($0.element.zOrder, $0.offset) < ($1.element.zOrder, $1.offset)
        }.map(\.element)
    }
}

/// The background where there is no layer.
public enum CompositionBackground: Hashable, Sendable {
    case colour(YCbCrColour)
    /// An image that covers the canvas.
    case image(ImageAsset)

    /// The standard background: dark grey.
    public static let standard = CompositionBackground.colour(standardColour)
}

public import MediaCore
public import PixelTransfer

/// One source's place on the canvas, how its picture takes that place, and how place and opacity change over time.
public struct CompositionLayer: Hashable, Sendable {
    public var source: SourceID
    /// The place on the canvas, before any ramp. Odd or outside edges are moved inwards to even positions inside the
    /// canvas when the layer is drawn.
    public var rect: PixelRect
    public var fit: LayerFit
    /// The rotation of the picture; nil for the sender's video orientation.
    public var rotation: VideoRotation?
    /// The opacity from 0 (invisible) to 1, before any ramp.
    public var opacity: Double
    /// The corners' radius in luma samples; 0 for square corners.
    public var cornerRadius: Int
    public var border: LayerBorder?
    /// The height: higher values lie above; layers with equal values lie in the order of the list.
    public var zOrder: Int
    /// True if the source's label, and a border while it speaks, are drawn as its decoration says.
    public var isDecorated: Bool
    /// The changes of the rectangle, in order of time and without overlap.
    public var rectRamps: [Ramp<PixelRect>]
    /// The changes of the opacity, in order of time and without overlap.
    public var opacityRamps: [Ramp<Double>]

    public init(
        source: SourceID, rect: PixelRect, fit: LayerFit = .contain, rotation: VideoRotation? = nil,
        opacity: Double = 1, cornerRadius: Int = 0, border: LayerBorder? = nil, zOrder: Int = 0,
        isDecorated: Bool = true, rectRamps: [Ramp<PixelRect>] = [], opacityRamps: [Ramp<Double>] = []
    ) {
        self.source = source
        self.rect = rect
        self.fit = fit
        self.rotation = rotation
        self.opacity = opacity
        self.cornerRadius = cornerRadius
        self.border = border
        self.zOrder = zOrder
        self.isDecorated = isDecorated
        self.rectRamps = rectRamps
        self.opacityRamps = opacityRamps
    }

    /// True if the layer changes over time although its source does not.
    public var containsTweening: Bool { !rectRamps.isEmpty || !opacityRamps.isEmpty }

    /// The layer as it stands at a time: place and opacity evaluated, without ramps.
    public func resolved(at time: MediaTime) -> CompositionLayer {
        guard containsTweening else { return self }
        var layer = self
        layer.rect = rectRamps.value(at: time) ?? rect
        layer.opacity = opacityRamps.value(at: time) ?? opacity
        layer.rectRamps = []
        layer.opacityRamps = []
        return layer
    }
}

/// A line around a layer, inside its edge.
public struct LayerBorder: Hashable, Sendable {
    /// The width in luma samples; even.
    public var width: Int
    public var colour: YCbCrColour

    public init(width: Int, colour: YCbCrColour) {
        self.width = width
        self.colour = colour
    }
}

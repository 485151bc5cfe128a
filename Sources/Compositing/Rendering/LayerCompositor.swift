public import MediaCore
import PixelTransfer

/// Composes layers in 4:2:0, in the matrix and range of `CompositionRenderer.canvasColour`. A picture of another matrix
/// or range is converted in the size of its tile.
///
/// Every source is turned upright and fitted into its layer's rectangle; the bars beside a contained picture are black.
/// Only visible samples are written. Each source is scaled once a tick for each size in which it is seen; other
/// canvases copy the finished tile, and so does the next tick if the source has not changed. Layers whose sources ask
/// for it get a label and, while someone speaks, a border.
///
/// A compositor belongs to one caller at a time.
public final class LayerCompositor: VideoCompositing {
    /// Counts of the compositor's work since it was made.
    public struct Statistics: Hashable, Sendable {
        public var scales = 0
        /// Pictures turned, each in the size of its tile.
        public var rotations = 0
        /// Tiles copied: finished tiles of another canvas, and pictures that had the right size already.
        public var copies = 0
        /// Pictures whose colour was not the canvas's and was converted, each in the size of its tile.
        public var colourConversions = 0
        /// The number of layers blended over lower ones.
        public var blends = 0
        /// Layers left out because others hide them.
        public var hiddenLayers = 0
        /// Placeholders laid out and drawn.
        public var placeholdersRendered = 0
        /// Labels laid out and drawn.
        public var labelsRendered = 0
        /// The number of background images that were scaled.
        public var backgroundsRendered = 0
        /// Overlays laid out and drawn.
        public var overlaysRendered = 0
        /// The number of allocated pictures other than destinations: scratch memory, placeholders, backgrounds. It is
        /// constant in steady state.
        public var pictureAllocations = 0

        public init() {}
    }

    public let sourceAttributes = PixelBufferAttributes(formats: [.i420])
    public let destinationAttributes = PixelBufferAttributes(formats: [.i420])

    static let barLuma: UInt8 = 16

    var counts = Statistics()
    var tiles = TileStore()
    var scratch = ScratchMemory()
    var turningPage: ScratchPage?
    var placeholders = PlaceholderRenderer()
    var backgrounds = BackgroundRenderer()
    var decorator = TileDecorator()
    var overlays = OverlayRenderer()
    var shapes = ShapeCache()
    /// The layers that a device is told of, and the pictures that are drawn for it.
    var deviceWork = DeviceWork()
    /// Pictures that a device is given as they are, for the part of them that is drawn here.
    var planar = SourceConverter(attributes: PixelBufferAttributes(formats: [.i420]))
    private var tick: Int?
    var drawings: [LayerDrawing] = []
    private var uncovered = UncoveredRegion()

    public init() {}

    public var statistics: Statistics {
        var statistics = counts
        statistics.placeholdersRendered = placeholders.renderCount
        statistics.labelsRendered = decorator.labelRenderCount
        statistics.backgroundsRendered = backgrounds.renderCount
        statistics.overlaysRendered = overlays.renderCount
        statistics.pictureAllocations += placeholders.renderCount + backgrounds.renderCount + scratch.allocationCount
        return statistics
    }

    public func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        begin(request)
        defer { drawings.removeAll(keepingCapacity: true) }
        plan(request)
        let overlays = self.overlays.overlays(
            request.instruction.overlays, canvas: request.canvas, wallClock: request.wallClock)
        if !self.overlays.isComplete { request.markIncomplete() }
        tiles.beginCanvas()
        var canvas = request.makeDestination()
        try canvas.withI420Region { canvas throws(VideoCompositingError) in
            try paint(request, below: overlays, on: canvas)
            for overlay in overlays { overlay.draw(on: canvas) }
        }
        let picture = canvas.freeze()
        tiles.endCanvas(picture)
        return picture
    }

    /// Begins a picture, and a tick with the first one of it.
    func begin(_ request: VideoCompositionRequest) {
        guard tick != request.tick else { return }
        tick = request.tick
        tiles.beginTick()
        scratch.beginTick()
        decorator.beginPass()
        deviceWork.beginTick()
        planar.endPass()
    }

    /// Determines the drawings, from the lowest layer to the highest.
    func plan(_ request: VideoCompositionRequest) {
        for layer in request.instruction.layers {
            guard let drawing = drawing(of: layer, request) else { continue }
            var index = drawings.endIndex
            drawings.append(drawing)
            while index > 0, drawings[index - 1].zOrder > drawings[index].zOrder {
                drawings.swapAt(index - 1, index)
                index -= 1
            }
        }
        let cornerColour = (request.instruction.background ?? .standard).plainColour
        for index in drawings.indices {
            decideBlending(index, cornerColour: cornerColour)
        }
        for index in drawings.indices {
            uncovered.reset(to: drawings[index].rect)
            for upper in (index + 1)..<max(index + 1, drawings.count) where !uncovered.isEmpty {
                drawings[upper].forEachOpaquePart { uncovered.subtract($0) }
            }
            drawings[index].isHidden = uncovered.isEmpty
        }
    }

    /// A layer through which something is seen is drawn by itself first; so is one with round corners, unless there is
    /// nothing but a plain colour beside them.
    private func decideBlending(_ index: Int, cornerColour: YCbCrColour?) {
        let drawing = drawings[index]
        guard drawing.isOpaque else {
            drawings[index].isBlended = true
            return
        }
        guard drawing.shape != nil else { return }
        let isAboveOthers = drawings[..<index].contains { $0.rect.overlaps(drawing.rect) }
        if let cornerColour, !isAboveOthers {
            drawings[index].key.cornerColour = cornerColour
        } else {
            drawings[index].isBlended = true
        }
    }

    private func paint(
        _ request: VideoCompositionRequest, below overlays: [PlacedOverlay], on canvas: I420Region
    ) throws(VideoCompositingError) {
        uncovered.reset(to: PixelRect(canvas.dimensions))
        for drawing in drawings where !drawing.isHidden { drawing.forEachOpaquePart { uncovered.subtract($0) } }
        // If possible the background comes after the layers: then only narrow strips are left, which are in the cache.
        let isBackgroundSeenThrough = drawings.contains { $0.isBlended && !$0.isHidden }
        if isBackgroundSeenThrough { paintBackground(request, on: canvas) }
        for index in drawings.indices {
            if request.isCancelled { throw .cancelled }
            guard !drawings[index].isHidden else {
                counts.hiddenLayers += 1
                continue
            }
            paint(drawings[index], on: canvas)
            // A tile over which something else is drawn is no good as a model.
            let drawing = drawings[index]
            if drawing.isWhole, !drawing.isBlended,
                !drawings[(index + 1)...].contains(where: { !$0.isHidden && $0.rect.overlaps(drawing.rect) }),
                !overlays.contains(where: { $0.rect.overlaps(drawing.rect) })
            {
                tiles.add(drawing)
            }
        }
        if !isBackgroundSeenThrough { paintBackground(request, on: canvas) }
    }

    private func paintBackground(_ request: VideoCompositionRequest, on canvas: I420Region) {
        guard !uncovered.isEmpty else { return }
        switch request.instruction.background ?? .standard {
        case .colour(let colour):
            for part in uncovered.parts { canvas.fill(part, with: colour) }
        case .image(let image):
            backgrounds.picture(image, size: canvas.dimensions).withPlanes { planes in
                for part in uncovered.parts { canvas.part(part).copy(I420Region(planes: planes, rect: part)) }
            }
        }
    }
}

/// Shapes that were made already. Few are in use at a time.
struct ShapeCache {
    private struct Key: Hashable {
        var kind: RoundedShape.Kind
        var radius: Int
    }

    private static let capacity = 64

    private var shapes: [Key: RoundedShape] = [:]

    mutating func shape(_ kind: RoundedShape.Kind, radius: Int) -> RoundedShape {
        let key = Key(kind: kind, radius: radius)
        if let known = shapes[key] { return known }
        if shapes.count == Self.capacity { shapes.removeAll() }
        let shape = RoundedShape(kind, radius: radius)
        shapes[key] = shape
        return shape
    }
}

/// The part of a rectangle that others do not cover, as rectangles that do not overlap. It keeps its memory.
struct UncoveredRegion {
    private(set) var parts: [PixelRect] = []
    private var next: [PixelRect] = []

    var isEmpty: Bool { parts.isEmpty }

    /// Starts again with a whole rectangle.
    mutating func reset(to rect: PixelRect) {
        parts.removeAll(keepingCapacity: true)
        if !rect.isEmpty { parts.append(rect) }
    }

    mutating func subtract(_ rect: PixelRect) {
        guard parts.contains(where: { $0.overlaps(rect) }) else { return }
        next.removeAll(keepingCapacity: true)
        for part in parts { part.forEachPart(outside: rect) { next.append($0) } }
        swap(&parts, &next)
    }
}

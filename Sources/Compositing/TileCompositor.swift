public import MediaCore
import PixelTransfer

/// Composes canvases from the newest picture of each source. Belongs to one caller at a time.
///
/// Every source is turned upright and fitted into its tile, with nothing cropped unless the tile says so; what a picture
/// leaves of its tile is black, what the tiles leave of the canvas is dark grey. Only that is written which is seen. Over
/// the tiles of sources that ask for it a label and, while someone speaks, a border are drawn.
public final class TileCompositor {
    /// What the compositor has done since it was made.
    public struct Statistics: Hashable, Sendable {
        /// Canvases composed anew.
        public var compositions = 0
        /// Canvases that were there already, with nothing changed, and were handed out again.
        public var reuses = 0
        /// Pictures scaled.
        public var scales = 0
        /// Pictures turned, each in the size of its tile.
        public var rotations = 0
        /// Tiles copied: finished tiles of another canvas, and pictures that had the right size already.
        public var copies = 0
        /// Placeholders laid out and drawn.
        public var placeholdersRendered = 0
        /// Labels laid out and drawn.
        public var labelsRendered = 0
        /// Pictures allocated, the pools' and the placeholders'. Stands still in steady state.
        public var pictureAllocations = 0

        public init() {}
    }

    /// The luma of what no tile covers; the letterbox's bars are black.
    static let backgroundLuma: UInt8 = 24
    static let barLuma: UInt8 = 16

    private var counts = Statistics()
    private var memory = PictureMemory()
    private var placeholders = PlaceholderRenderer()
    private var decorator = TileDecorator()
    /// The last call's canvases.
    private var canvases: [CompositionRequest: Canvas] = [:]
    /// The last call's finished tiles, to copy what has not changed since.
    private var finishedTiles: [TileKey: FinishedTile] = [:]
    private var conversions: [SourceID: Conversion] = [:]

    public init() {}

    public var statistics: Statistics {
        var statistics = counts
        statistics.placeholdersRendered = placeholders.renderCount
        statistics.labelsRendered = decorator.labelRenderCount
        statistics.pictureAllocations = memory.allocationCount + placeholders.renderCount
        return statistics
    }

    /// Composes a canvas (I420) for each request, in their order.
    ///
    /// Each source is scaled once per distinct tile size; other canvases copy the finished tile. A request that is the
    /// same as in the call before, with the same pictures, gets the same picture again.
    public func compose(
        _ requests: [CompositionRequest], sources: [SourceID: CompositionSource]
    ) -> [PixelBuffer] {
        var pass = Pass(previousTiles: finishedTiles, previousConversions: conversions)
        decorator.beginPass()
        let results = requests.map { request in
            if let canvas = pass.canvases[request] {
                counts.reuses += 1
                return canvas.picture
            }
            let previous = canvases[request]
            let appearances = appearances(of: request, sources, previously: previous?.appearances)
            if let previous, previous.appearances == appearances {
                counts.reuses += 1
                pass.add(previous, for: request)
                return previous.picture
            }
            let canvas = compose(request, appearances, pass: &pass)
            counts.compositions += 1
            pass.add(canvas, for: request)
            return canvas.picture
        }
        canvases = pass.canvases
        finishedTiles = pass.tiles
        conversions = pass.conversions
        return results
    }

    /// What each tile is to look like now.
    private func appearances(
        of request: CompositionRequest, _ sources: [SourceID: CompositionSource], previously: [Appearance]?
    ) -> [Appearance] {
        request.tiles.enumerated().map { index, tile in
            guard let source = sources[tile.source] else { return .nothing }
            var appearance = Appearance(content: Content(source))
            guard let decoration = source.decoration else { return appearance }
            appearance.isSpeaking = decoration.isSpeaking
            appearance.label = decorator.label(
                source.name, decoration, size: tile.rect.trimmed(to: request.canvas).dimensions,
                previously: previously?[index].label)
            return appearance
        }
    }

    private func compose(_ request: CompositionRequest, _ appearances: [Appearance], pass: inout Pass) -> Canvas {
        let dimensions = VideoDimensions(width: max(2, request.canvas.width), height: max(2, request.canvas.height))
        var drawings: [Drawing] = []
        drawings.reserveCapacity(request.tiles.count)
        for (tile, appearance) in zip(request.tiles, appearances) {
            let rect = tile.rect.trimmed(to: dimensions)
            guard !rect.isEmpty, let drawing = drawing(appearance, of: tile, in: rect, pass: &pass) else { continue }
            drawings.append(drawing)
        }

        var painted: [TileKey: PixelRect] = [:]
        var canvas = memory.makePicture(dimensions)
        canvas.withMutablePlanes { planes in
            for (index, drawing) in drawings.enumerated() {
                paint(drawing, on: planes, painted: painted, pass: pass)
                // A tile that another one covers in part is no good as a model.
                if !drawings[(index + 1)...].contains(where: { $0.rect.overlaps(drawing.rect) }) {
                    painted[drawing.key] = drawing.rect
                }
            }
            // After the tiles: what is left is narrow strips, whose cache lines the tiles have brought in.
            let whole = PixelRect(x: 0, y: 0, width: dimensions.width, height: dimensions.height)
            for gap in whole.subtracting(drawings.lazy.map(\.rect)) {
                I420Region(planes: planes, rect: gap).fill(luma: Self.backgroundLuma)
            }
        }
        let picture = canvas.freeze()
        let finished = drawings.compactMap { drawing in
            painted[drawing.key].map {
                (drawing.key, FinishedTile(appearance: drawing.appearance, canvas: picture, rect: $0))
            }
        }
        return Canvas(picture: picture, appearances: appearances, finishedTiles: finished)
    }

    private func drawing(
        _ appearance: Appearance, of tile: CompositionLayer, in rect: PixelRect, pass: inout Pass
    ) -> Drawing? {
        let key = TileKey(source: tile.source, width: rect.width, height: rect.height, fit: tile.fit)
        switch appearance.content {
        case .none:
            return nil
        case .placeholder(let name):
            let picture = placeholders.picture(name: name, size: rect.dimensions)
            return Drawing(
                key: key, appearance: appearance, picture: picture, crop: PixelRect(picture.dimensions), rect: rect,
                fitted: rect)
        case .picture(let picture, let rotation, let isStale):
            guard picture.dimensions.width > 0, picture.dimensions.height > 0 else { return nil }
            let upright = rotation.upright(picture.dimensions)
            var crop = PixelRect(picture.dimensions)
            if tile.fit == .cover {
                crop = PixelRect(upright).fitting(rect.dimensions)
                if rotation.swapsDimensions { crop = crop.transposed }
            }
            return Drawing(
                key: key, appearance: appearance, picture: planar(picture, of: tile.source, pass: &pass), crop: crop,
                rotation: rotation, isDimmed: isStale, rect: rect,
                fitted: tile.fit == .cover ? rect : rect.fitting(upright))
        }
    }

    /// Paints a tile from the cheapest there is: a finished one on this canvas, on another, or the picture itself.
    private func paint(
        _ drawing: Drawing, on planes: PixelBufferPlanes, painted: [TileKey: PixelRect], pass: Pass
    ) {
        let tile = I420Region(planes: planes, rect: drawing.rect)
        if let rect = painted[drawing.key] {
            tile.copy(I420Region(planes: planes, rect: rect))
            counts.copies += 1
            return
        }
        if let finished = pass.finishedTile(drawing.key), finished.appearance == drawing.appearance {
            finished.canvas.withPlanes { tile.copy(I420Region(planes: $0, rect: finished.rect)) }
            counts.copies += 1
            return
        }
        let region = I420Region(planes: planes, rect: drawing.fitted)
        drawing.picture.withPlanes { planes in
            let source = I420Region(planes: planes, rect: drawing.crop)
            if drawing.rotation == .none {
                take(source, into: region)
            } else {
                turn(source, by: drawing.rotation, into: region)
            }
        }
        if drawing.isDimmed { region.dim() }
        for bar in drawing.rect.subtracting(drawing.fitted) {
            I420Region(planes: planes, rect: bar).fill(luma: Self.barLuma)
        }
        decorator.decorate(tile, label: drawing.appearance.label, isSpeaking: drawing.appearance.isSpeaking)
    }

    private func take(_ source: I420Region, into region: I420Region) {
        if source.dimensions == region.dimensions {
            region.copy(source)
            counts.copies += 1
        } else {
            region.scale(source)
            counts.scales += 1
        }
    }

    /// Scales first: most tiles are smaller than the pictures that they show, and turning costs by the sample.
    private func turn(_ source: I420Region, by rotation: VideoRotation, into region: I420Region) {
        counts.rotations += 1
        let lying = rotation.upright(region.dimensions)
        guard source.dimensions != lying else {
            region.rotate(source, by: rotation)
            return
        }
        var scratch = memory.makePicture(lying)
        scratch.withMutablePlanes { planes in
            let scaled = I420Region(planes: planes, dimensions: lying)
            scaled.scale(source)
            counts.scales += 1
            region.rotate(scaled, by: rotation)
        }
    }

    /// The picture as I420: itself, or converted once.
    private func planar(_ picture: PixelBuffer, of source: SourceID, pass: inout Pass) -> PixelBuffer {
        guard picture.format != .i420 else { return picture }
        if let conversion = pass.conversion(of: picture, from: source) { return conversion }
        var result = memory.makePicture(picture.dimensions)
        result.withMutablePlanes { planes in
            let region = I420Region(planes: planes, dimensions: picture.dimensions)
            picture.withPlanes { planes in
                switch picture.format {
                case .nv12: region.convert(nv12: planes)
                case .bgra:
                    region.convert(bgra: planes[0].base.assumingMemoryBound(to: UInt8.self), stride: planes[0].stride)
                case .i420: region.copy(I420Region(planes: planes, dimensions: picture.dimensions))
                }
            }
        }
        let converted = result.freeze()
        pass.conversions[source] = Conversion(original: picture, result: converted)
        return converted
    }
}

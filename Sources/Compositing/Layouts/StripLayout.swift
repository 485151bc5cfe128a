import MediaCore

/// One large tile, and the others small in a strip below or beside it.
enum StripLayout {
    /// The smallest number of tiles for which the strip's size is computed, so that a single one does not take half of
    /// the canvas.
    static let fewestPlaces = 4
    /// The largest number of tiles in the strip, which shows the last speakers: smaller faces cannot be recognized.
    static let mostPlaces = 8
    /// The gain of the large tile that is needed for the strip to change to the other edge.
    private static let worthMoving = 1.05

    private enum Edge {
        case bottom, right
    }

    private struct Placement {
        /// The part of the canvas that the strip leaves.
        var area: PixelRect
        var place: VideoDimensions
        /// The largest 16:9 in `area`.
        var wide: PixelRect
    }

    static func layers(large: SourceID, scene: LayoutScene, canvas: VideoDimensions) -> [CompositionLayer] {
        guard let whole = PairLayout.whole(canvas) else { return [] }
        let others = others(than: large, in: scene)
        // A screen has any shape and should be as large as possible; cameras are mostly 16:9.
        let isScreen = large.content == .screenShare
        let preferred = isScreen ? Edge.right : .bottom
        let other = isScreen ? Edge.bottom : .right
        let placements = [preferred, other].map { placement(on: $0, count: others.count, whole: whole) }
        let isMoved =
            Double(placements[1]?.wide.area ?? 0) > Self.worthMoving * Double(placements[0]?.wide.area ?? 0)
        guard !others.isEmpty, let chosen = placements[isMoved ? 1 : 0] else {
            return [CompositionLayer(source: large, rect: whole)]
        }
        return layers(
            large: large, others: others, in: chosen, on: isMoved ? other : preferred, whole: whole,
            fillsArea: isScreen)
    }

    /// The strip's sources: screen shares first, then cameras, in their order; if there are too many, the most
    /// important ones.
    private static func others(than large: SourceID, in scene: LayoutScene) -> [SourceID] {
        let byImportance =
            scene.presenters.reversed().map(SourceID.screenShare) + scene.camerasByImportance.map(SourceID.camera)
        let shown = byImportance.filter { $0 != large }.prefix(mostPlaces)
        return scene.sources.filter(shown.contains)
    }

    private static func placement(on edge: Edge, count: Int, whole: PixelRect) -> Placement? {
        let places = min(max(count, fewestPlaces), mostPlaces)
        var area = whole
        let place: VideoDimensions
        switch edge {
        case .bottom:
            let width = even(whole.width / places)
            place = VideoDimensions(width: width, height: even(width * 9 / 16))
            area.height -= place.height
        case .right:
            let height = even(whole.height / places)
            place = VideoDimensions(width: even(height * 16 / 9), height: height)
            area.width -= place.width
        }
        guard place.width >= 2, place.height >= 2, area.width >= 2, area.height >= 2 else { return nil }
        return Placement(
            area: area, place: place, wide: area.fitting(VideoDimensions(width: 16, height: 9)))
    }

    /// The large tile and the strip, together in the middle of the canvas.
    private static func layers(
        large: SourceID, others: [SourceID], in placement: Placement, on edge: Edge, whole: PixelRect,
        fillsArea: Bool
    ) -> [CompositionLayer] {
        var largeRect = fillsArea ? placement.area : placement.wide
        let place = placement.place
        var next: PixelRect
        switch edge {
        case .bottom:
            largeRect.y = even((whole.height - largeRect.height - place.height) / 2)
            next = PixelRect(
                x: even((whole.width - others.count * place.width) / 2), y: largeRect.maxY, width: place.width,
                height: place.height)
        case .right:
            largeRect.x = even((whole.width - largeRect.width - place.width) / 2)
            next = PixelRect(
                x: largeRect.maxX, y: even((whole.height - others.count * place.height) / 2), width: place.width,
                height: place.height)
        }
        var tiles = [CompositionLayer(source: large, rect: largeRect)]
        for source in others {
            tiles.append(CompositionLayer(source: source, rect: next))
            switch edge {
            case .bottom: next.x += place.width
            case .right: next.y += place.height
            }
        }
        return tiles
    }

    private static func even(_ value: Int) -> Int { value & ~1 }
}

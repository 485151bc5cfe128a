import MediaCore

/// A template on a canvas, filled with sources.
struct TemplateLayout {
    /// A slot and its sources.
    struct FilledSlot {
        var slot: LayoutTemplate.Slot
        /// Its place; nil if it has given it to another, or the canvas is too small for it.
        var rect: PixelRect?
        var choices: [SlotAssignment.Choice]
        /// One tile for each of `choices`, or none if there is no room for them.
        var tiles: [PixelRect]
    }

    /// The arrangement that is used; nil if none suits.
    let arrangementIndex: Int?
    let slots: [FilledSlot]
    /// The participants that are not shown.
    let rest: [SourceID]
    /// The shorter side of the canvas.
    private let unit: Int

    init(_ template: LayoutTemplate, scene: LayoutScene, canvas: VideoDimensions) {
        let arrangement = template.arrangements.firstIndex {
            $0.participants.contains(scene.cameras.count) && $0.screens.contains(scene.presenters.count)
        }
        let unit = min(canvas.width, canvas.height)
        let slots = arrangement.map { template.arrangements[$0].slots } ?? []
        var assignment = SlotAssignment(scene)
        let choices = slots.map { assignment.choose(for: $0) }
        let rects = Self.rects(of: slots, areEmpty: choices.map(\.isEmpty), canvas: canvas)
        var (filled, rest): ([FilledSlot], [SourceID]) = ([], assignment.rest)
        for (index, slot) in slots.enumerated() {
            // Templates made in code may have any numbers.
            let gap = Int(clamping: (Double(unit) * min(max(slot.gap, 0), 1) / 2).rounded()) * 2
            let tiles =
                rects[index].map { TileRaster(slot.tiling, count: choices[index].count, gap: gap, in: $0).cells } ?? []
            if tiles.count < choices[index].count { rest += choices[index].map(\.source) }
            filled.append(FilledSlot(slot: slot, rect: rects[index], choices: choices[index], tiles: tiles))
        }
        arrangementIndex = arrangement
        self.slots = filled
        self.rest = rest
        self.unit = unit
    }

    /// The layers from the lowest to the highest.
    var layers: [CompositionLayer] {
        slots.flatMap { filled in
            zip(filled.choices, filled.tiles).map { layer(of: filled.slot, source: $0.source, rect: $1) }
        }.fromLowest
    }

    private func layer(of slot: LayoutTemplate.Slot, source: SourceID, rect: PixelRect) -> CompositionLayer {
        let standardFit = source.content == .camera ? LayerFit.Mode.cover : .contain
        let side = Double(min(rect.width, rect.height))
        return CompositionLayer(
            source: source, rect: rect, fit: LayerFit(slot.fit ?? standardFit, focus: slot.focus),
            opacity: slot.opacity, cornerRadius: Int(clamping: (side * slot.cornerRadius).rounded()),
            border: slot.border.map { border in
                // Something of a small tile remains visible.
                let half = min(Int(clamping: (Double(unit) * border.width / 2).rounded()), Int(side) / 8)
                return LayerBorder(width: 2 * max(1, half), colour: border.colour.video)
            },
            zOrder: slot.zOrder, isDecorated: slot.isLabelled)
    }

    /// The places of the slots. Left-out slots have given theirs to others.
    private static func rects(
        of slots: [LayoutTemplate.Slot], areEmpty: [Bool], canvas: VideoDimensions
    ) -> [PixelRect?] {
        var rects = slots.map { $0.area.rect(on: canvas) }
        for (index, slot) in slots.enumerated() where areEmpty[index] {
            guard case .enlarge(let name) = slot.whenEmpty else { continue }
            let place = rects[index]
            rects[index] = nil
            guard let place, let other = slots.firstIndex(where: { $0.name == name }), !areEmpty[other] else {
                continue
            }
            rects[other] = rects[other].map { $0.union(place) }
        }
        return rects
    }
}

extension LayoutTemplate.Area {
    /// On a canvas, each edge at the nearest even position: areas that touch leave nothing between them. Nil if nothing
    /// is left of it.
    func rect(on canvas: VideoDimensions) -> PixelRect? {
        func even(_ fraction: Double, of side: Int) -> Int {
            guard fraction > 0 else { return 0 }
            return min(Int((min(fraction, 1) * Double(side) / 2).rounded()) * 2, side & ~1)
        }
        guard canvas.width > 0, canvas.height > 0 else { return nil }
        let (left, top) = (even(x, of: canvas.width), even(y, of: canvas.height))
        let rect = PixelRect(
            x: left, y: top, width: even(x + width, of: canvas.width) - left,
            height: even(y + height, of: canvas.height) - top)
        return rect.isEmpty ? nil : rect
    }
}

extension PixelRect {
    /// The smallest rectangle around both.
    fileprivate func union(_ other: PixelRect) -> PixelRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelRect(x: left, y: top, width: max(maxX, other.maxX) - left, height: max(maxY, other.maxY) - top)
    }
}

import MediaCore

extension CompositionPlan {
    /// Returns the errors of the plan. An empty list means that the plan defines the picture at all of its times, and
    /// that it can be drawn.
    public func validate() -> [CompositionIssue] {
        timeIssues() + instructions.flatMap { $0.issues(on: canvas) }
    }

    private func timeIssues() -> [CompositionIssue] {
        var issues: [CompositionIssue] = []
        var (latestStart, latestEnd) = (MediaTime.invalid, MediaTime.invalid)
        for range in instructions.lazy.map(\.timeRange) {
            guard !range.isEmpty else {
                issues.append(CompositionIssue(.instructionWithoutTime, timeRange: range))
                continue
            }
            guard latestEnd.isValid else {
                (latestStart, latestEnd) = (range.start, range.end)
                continue
            }
            if range.start < latestStart {
                issues.append(CompositionIssue(.instructionOutOfOrder, timeRange: range))
            } else if range.start > latestEnd {
                issues.append(CompositionIssue(.gap, timeRange: MediaTimeRange(start: latestEnd, end: range.start)))
            }
            let common = MediaTimeRange(start: max(latestStart, range.start), end: min(latestEnd, range.end))
            if !common.isEmpty { issues.append(CompositionIssue(.overlap, timeRange: common)) }
            (latestStart, latestEnd) = (max(latestStart, range.start), max(latestEnd, range.end))
        }
        return issues
    }
}

extension CompositionInstruction {
    /// Errors of the instruction alone, apart from its place in the plan.
    fileprivate func issues(on canvas: VideoDimensions) -> [CompositionIssue] {
        var kinds = layers.flatMap { $0.issues(on: canvas, in: timeRange) }
        let shown = Set(layers.map(\.source))
        kinds += requiredSources.subtracting(shown).inOrder.map { .sourceWithoutLayer($0) }
        kinds += shown.subtracting(requiredSources).inOrder.map { .layerWithoutSource($0) }
        if background == nil {
            let uncovered = PixelRect(canvas).subtracting(layers.lazy.compactMap(\.alwaysCovered))
            kinds += uncovered.map { .missingBackground($0) }
        }
        if let source = passthroughSource {
            let isAlone = layers.count == 1 && overlays.isEmpty && layers[0].source == source
            if !isAlone || !layers[0].isUnchanged(on: canvas) { kinds.append(.contradictedPassthrough(source)) }
        }
        for overlay in overlays {
            let isSound = (0...1).contains(overlay.opacity) && overlay.height > 0 && overlay.height <= 1
            if !isSound { kinds.append(.overlayOutOfRange(overlay.anchor)) }
        }
        return kinds.map { CompositionIssue($0, timeRange: timeRange) }
    }
}

extension CompositionLayer {
    /// The rectangles of the layer, without those between two rectangles of a ramp.
    private var places: [PixelRect] {
        rectRamps.isEmpty ? [rect] : rectRamps.flatMap { [$0.startValue, $0.endValue] }
    }

    private var opacities: [Double] {
        opacityRamps.isEmpty ? [opacity] : opacityRamps.flatMap { [$0.startValue, $0.endValue] }
    }

    /// The area that the layer covers all of the time; nil if there is none. Corners move on straight lines, so an area
    /// that is covered at both ends of a ramp is covered between them.
    fileprivate var alwaysCovered: PixelRect? {
        guard cornerRadius == 0, opacities.allSatisfy({ $0 == 1 }), let first = places.first else { return nil }
        let covered = places.dropFirst().reduce(first) { $0.intersection($1) }
        return covered.isEmpty ? nil : covered
    }

    fileprivate func issues(on canvas: VideoDimensions, in instruction: MediaTimeRange) -> [CompositionIssue.Kind] {
        var kinds = ([rect] + places).withoutRepetition.flatMap { issues(at: $0, on: canvas) }
        kinds += (opacityRamps.isEmpty ? [opacity] : ([opacity] + opacities).withoutRepetition).filter {
            !(0...1).contains($0)
        }.map {
            .opacityOutOfRange(source, $0)
        }
        kinds += issues(of: rectRamps.map(\.timeRange), of: .place, in: instruction)
        kinds += issues(of: opacityRamps.map(\.timeRange), of: .opacity, in: instruction)

        // The corners are meant for the start or the end of the ramp; between them they get as large as there is room.
        let side = max(0, ([rect] + places).map { min($0.width, $0.height) }.max() ?? 0)
        if cornerRadius < 0 || cornerRadius > side / 2 {
            kinds.append(.cornerRadiusTooLarge(source, cornerRadius))
        }
        if let border, border.width <= 0 || border.width > (side - 1) / 2 {
            kinds.append(.borderTooWide(source, border.width))
        }
        return kinds
    }

    private func issues(at place: PixelRect, on canvas: VideoDimensions) -> [CompositionIssue.Kind] {
        guard !place.isEmpty else { return [.emptyLayer(source, place)] }
        var kinds: [CompositionIssue.Kind] = []
        if !PixelRect(canvas).contains(place) { kinds.append(.layerOutsideCanvas(source, place)) }
        // An odd canvas ends within a chroma sample itself.
        let isEven =
            place.x.isMultiple(of: 2) && place.y.isMultiple(of: 2)
            && (place.maxX.isMultiple(of: 2) || place.maxX == canvas.width)
            && (place.maxY.isMultiple(of: 2) || place.maxY == canvas.height)
        if !isEven { kinds.append(.oddPosition(source, place)) }
        return kinds
    }

    private func issues(
        of ramps: [MediaTimeRange], of property: CompositionIssue.Property, in instruction: MediaTimeRange
    ) -> [CompositionIssue.Kind] {
        var kinds: [CompositionIssue.Kind] = ramps.filter { $0.isEmpty || !instruction.contains($0) }.map {
            .rampOutsideInstruction(source, property, $0)
        }
        if zip(ramps, ramps.dropFirst()).contains(where: { $1.start < $0.end }) {
            kinds.append(.overlappingRamps(source, property))
        }
        return kinds
    }
}

extension Sequence where Element == SourceID {
    /// The sources of a set in a fixed order.
    fileprivate var inOrder: [SourceID] {
        sorted { ($0.participant, $0.content.rawValue) < ($1.participant, $1.content.rawValue) }
    }
}

extension Sequence where Element: Equatable {
    fileprivate var withoutRepetition: [Element] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}

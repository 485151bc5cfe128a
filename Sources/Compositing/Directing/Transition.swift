import MediaCore

/// The way from the picture at a time to a view: the layers that move, come and leave.
struct Transition {
    /// The layers from the lowest to the highest, with their ramps.
    let layers: [StagedLayer]
    /// The end of the last ramp; the transition's beginning if nothing moves.
    let end: MediaTime

    /// A coming layer grows from this part of its place.
    private static let entranceScale = 0.92
    /// More that go at once than this are not followed to their end: the faintest are dropped.
    private static let mostLeaving = 128

    /// - Parameters:
    ///   - stage: The layers on screen, from the lowest to the highest, with their ramps.
    ///   - wanted: The layers of the target, in their order.
    ///   - duration: The duration of the change; positive.
    init(
        from stage: [StagedLayer], to wanted: [CompositionLayer], at time: MediaTime, duration: MediaTime,
        easing: Easing
    ) {
        let range = MediaTimeRange(start: time, duration: duration)
        let resolved = stage.map { $0.layer.resolved(at: time) }
        let visible = resolved.indices.filter { resolved[$0].opacity >= StagedLayer.faintest }
        // Layers with their ramps, and the same as they are now.
        let (seen, now) = (visible.map { stage[$0] }, visible.map { resolved[$0] })
        let stacked = wanted.indices.sorted { (wanted[$0].zOrder, $0) < (wanted[$1].zOrder, $1) }

        let matches = Self.matches(of: wanted, among: seen)
        var unmatched = Set(seen.indices)
        var movements = stacked.enumerated().map { rank, index in
            if let match = matches[index] { unmatched.remove(match) }
            return StackingOrder.Movement(current: matches[index], target: rank)
        }
        if unmatched.count > Self.mostLeaving {
            let faintest = unmatched.sorted { (now[$0].opacity, $0) < (now[$1].opacity, $1) }
            unmatched.subtract(faintest.prefix(unmatched.count - Self.mostLeaving))
        }
        movements += unmatched.sorted().map { StackingOrder.Movement(current: $0, target: nil) }
        let order = StackingOrder(current: now.map(\.rect), target: stacked.map { wanted[$0].rect })

        layers = order.sorted(movements).map { movement in
            let from = movement.current.map { (staged: seen[$0], now: now[$0]) }
            guard let rank = movement.target else {
                var (staged, current) = from ?? (StagedLayer(layer: wanted[0], order: 0, isLeaving: true), wanted[0])
                let fade = staged.isLeaving ? staged.layer.opacityRamps.last : nil
                staged.isLeaving = true
                staged.layer = current
                staged.layer.opacity = 0
                staged.layer.zOrder = 0
                staged.layer.limitEdges()
                staged.layer.fade(from: current.opacity, during: range, easing: .easeIn, continuing: fade)
                return staged
            }
            var layer = wanted[stacked[rank]]
            if let from {
                let ramps = (rect: from.staged.layer.rectRamps.last, opacity: from.staged.layer.opacityRamps.last)
                layer.glide(from: from.now.rect, during: range, easing: easing, continuing: ramps.rect)
                layer.fade(from: from.now.opacity, during: range, easing: easing, continuing: ramps.opacity)
            } else {
                layer.glide(
                    from: layer.rect.scaled(by: Self.entranceScale), during: range, easing: .easeOut, continuing: nil)
                layer.fade(from: 0, during: range, easing: .easeOut, continuing: nil)
            }
            layer.zOrder = 0
            return StagedLayer(layer: layer, order: stacked[rank], isLeaving: false)
        }
        let ends = layers.flatMap { staged in
            staged.layer.rectRamps.map(\.timeRange.end) + staged.layer.opacityRamps.map(\.timeRange.end)
        }
        end = ends.max() ?? time
    }

    /// Matches each layer of the target with a layer on screen of the same source: the one at its place or moving
    /// there, otherwise the next in order, leaving layers last.
    private static func matches(of wanted: [CompositionLayer], among seen: [StagedLayer]) -> [Int: Int] {
        var candidates = Dictionary(grouping: seen.indices) { seen[$0].layer.source }.mapValues { indices in
            indices.sorted {
                (seen[$0].isLeaving ? 1 : 0, seen[$0].order) < (seen[$1].isLeaving ? 1 : 0, seen[$1].order)
            }
        }
        var matches: [Int: Int] = [:]
        for (index, layer) in wanted.enumerated() {
            guard let place = candidates[layer.source]?.firstIndex(where: { seen[$0].restingRect == layer.rect })
            else { continue }
            matches[index] = candidates[layer.source]?.remove(at: place)
        }
        for (index, layer) in wanted.enumerated() where matches[index] == nil {
            guard candidates[layer.source]?.isEmpty == false else { continue }
            matches[index] = candidates[layer.source]?.removeFirst()
        }
        return matches
    }
}

extension PixelRect {
    /// Returns the middle part of the rectangle, at even positions; the whole rectangle if it is too small.
    fileprivate func scaled(by factor: Double) -> PixelRect {
        func margin(_ side: Int) -> Int { Int(clamping: Double(side) * (1 - factor) / 4) * 2 }
        let rect = bounded
        let (horizontal, vertical) = (margin(rect.width), margin(rect.height))
        return PixelRect(
            x: rect.x + horizontal, y: rect.y + vertical, width: rect.width - 2 * horizontal,
            height: rect.height - 2 * vertical)
    }
}

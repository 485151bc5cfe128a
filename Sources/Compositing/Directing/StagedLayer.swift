import MediaCore

/// A layer on screen, as the director keeps it: its present state and its target.
struct StagedLayer: Hashable, Sendable {
    /// The layer, with at most one ramp of the place and one of the opacity.
    var layer: CompositionLayer
    /// Its place among the layers of the view that it was last part of.
    var order: Int
    /// True if no view has the layer any more: it fades out.
    var isLeaving: Bool

    /// A lower opacity cannot be distinguished from zero in a picture of 8 bits.
    static let faintest = 1.0 / 512

    /// The final rectangle of the layer.
    var restingRect: PixelRect { layer.rectRamps.last?.to ?? layer.rect }
}

extension CompositionLayer {
    /// Makes the rectangle change from `current` to `rect` in `range`. Does nothing if it is there already, or already
    /// moving there.
    mutating func glide(
        from current: PixelRect, during range: MediaTimeRange, easing: Easing, continuing ramp: Ramp<PixelRect>?
    ) {
        rectRamps = Self.ramps(from: current, to: rect, during: range, easing: easing, continuing: ramp)
    }

    /// Makes the opacity change from `current` to `opacity` in `range`. Does nothing if it has that value already, or
    /// is already changing to it.
    mutating func fade(
        from current: Double, during range: MediaTimeRange, easing: Easing, continuing ramp: Ramp<Double>?
    ) {
        opacityRamps = Self.ramps(from: current, to: opacity, during: range, easing: easing, continuing: ramp)
    }

    /// Limits corners and border to the present rectangle: it may have been on its way to a larger one.
    mutating func limitEdges() {
        let side = min(rect.bounded.width, rect.bounded.height)
        cornerRadius = min(cornerRadius, side / 2)
        if let width = border?.width, width > (side - 1) / 2 {
            let widest = (side - 1) / 2 & ~1
            border = widest > 0 ? border.map { LayerBorder(width: widest, colour: $0.colour) } : nil
        }
    }

    private static func ramps<Value>(
        from current: Value, to target: Value, during range: MediaTimeRange, easing: Easing,
        continuing ramp: Ramp<Value>?
    ) -> [Ramp<Value>] {
        if let ramp, ramp.to == target,
            let rest = ramp.trimmed(to: MediaTimeRange(start: range.start, duration: .positiveInfinity))
        {
            return [rest]
        }
        return current == target ? [] : [Ramp(timeRange: range, from: current, to: target, easing: easing)]
    }
}

import MediaCore

/// The rest of a rectangle without others: rectangles that do not overlap. It keeps its memory.
struct UncoveredRegion {
    private(set) var parts: [PixelRect] = []
    private var next: [PixelRect] = []

    var isEmpty: Bool { parts.isEmpty }

    /// Starts again with all of a rectangle.
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

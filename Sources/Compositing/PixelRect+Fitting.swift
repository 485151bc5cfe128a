import MediaCore

extension PixelRect {
    /// The largest rectangle of the shape of `size` inside this one, centred. Nothing of the picture is cropped.
    ///
    /// The rectangle begins at an even position, and so does the result. Its size is the nearest even one; if it takes
    /// all of a side of this rectangle, it keeps that side. It is never narrower or lower than a chroma sample.
    func fitting(_ size: VideoDimensions) -> PixelRect {
        var (fittedWidth, fittedHeight) = (width, height)
        if size.width * height >= width * size.height {
            fittedHeight = Self.nearestEven(width * size.height, dividedBy: size.width, limit: height)
        } else {
            fittedWidth = Self.nearestEven(height * size.width, dividedBy: size.height, limit: width)
        }
        return PixelRect(
            x: x + (width - fittedWidth) / 2 & ~1, y: y + (height - fittedHeight) / 2 & ~1,
            width: fittedWidth, height: fittedHeight)
    }

    /// The part of the rectangle that lies on `canvas`, trimmed to even positions and sizes; possibly empty.
    func trimmed(to canvas: VideoDimensions) -> PixelRect {
        let left = (max(x, 0) + 1) & ~1
        let top = (max(y, 0) + 1) & ~1
        return PixelRect(
            x: left, y: top,
            width: max(0, (min(maxX, canvas.width) & ~1) - left),
            height: max(0, (min(maxY, canvas.height) & ~1) - top))
    }

    /// The rectangle with numbers that can be added and multiplied: far edges are limited to positions outside any
    /// canvas.
    var bounded: PixelRect {
        let limit = 1 << 24
        return PixelRect(
            x: min(max(x, -limit), limit), y: min(max(y, -limit), limit), width: min(max(width, 0), limit),
            height: min(max(height, 0), limit))
    }

    /// The rectangle with its edges moved inwards to even positions, and bounded.
    var evened: PixelRect {
        let rect = bounded
        let (left, top) = ((rect.x + 1) & ~1, (rect.y + 1) & ~1)
        return PixelRect(
            x: left, y: top, width: max(0, (rect.maxX & ~1) - left), height: max(0, (rect.maxY & ~1) - top))
    }

    func intersection(_ other: PixelRect) -> PixelRect {
        let (left, top) = (max(x, other.x), max(y, other.y))
        return PixelRect(
            x: left, y: top, width: max(left, min(maxX, other.maxX)) - left,
            height: max(top, min(maxY, other.maxY)) - top)
    }

    /// The same rectangle as seen from a corner.
    func relative(to corner: PixelRect) -> PixelRect {
        PixelRect(x: x - corner.x, y: y - corner.y, width: width, height: height)
    }

    /// Calls `body` with the parts of the rectangle that `other` does not cover, at most four rectangles.
    func forEachPart(outside other: PixelRect, _ body: (PixelRect) -> Void) {
        guard overlaps(other) else {
            if !isEmpty { body(self) }
            return
        }
        let top = max(y, other.y)
        let bottom = min(maxY, other.maxY)
        func visit(_ part: PixelRect) {
            if !part.isEmpty { body(part) }
        }
        visit(PixelRect(x: x, y: y, width: width, height: top - y))
        visit(PixelRect(x: x, y: top, width: other.x - x, height: bottom - top))
        visit(PixelRect(x: other.maxX, y: top, width: maxX - other.maxX, height: bottom - top))
        visit(PixelRect(x: x, y: bottom, width: width, height: maxY - bottom))
    }

    /// The parts of the rectangle that `other` does not cover: at most four rectangles that do not overlap.
    func subtracting(_ other: PixelRect) -> [PixelRect] {
        var parts: [PixelRect] = []
        forEachPart(outside: other) { parts.append($0) }
        return parts
    }

    /// The parts of the rectangle that none of `others` covers.
    func subtracting(_ others: some Sequence<PixelRect>) -> [PixelRect] {
        others.reduce(into: [self]) { parts, other in parts = parts.flatMap { $0.subtracting(other) } }
    }

    private static func nearestEven(_ dividend: Int, dividedBy divisor: Int, limit: Int) -> Int {
        let even = (dividend + divisor) / (2 * divisor) * 2
        return min(max(even, 2), limit)
    }
}

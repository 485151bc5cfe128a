import MediaCore

extension RoundedShape {
    /// A rectangle that is cut along even columns and rows into corners and the parts between them, so that every
    /// chroma sample is in one part only.
    struct Parts {
        private let rect: PixelRect
        private let columns: (left: Int, right: Int)
        private let rows: (top: Int, bottom: Int)

        /// Nil if the rectangle has no room for four corners of this extent.
        init?(_ rect: PixelRect, extent: Int) {
            guard rect.width >= 2 * extent, rect.height >= 2 * extent else { return nil }
            columns = ((rect.x + extent + 1) & ~1, (rect.maxX - extent) & ~1)
            rows = ((rect.y + extent + 1) & ~1, (rect.maxY - extent) & ~1)
            guard columns.left <= columns.right, rows.top <= rows.bottom else { return nil }
            self.rect = rect
        }

        subscript(corner: Corner) -> PixelRect {
            let (left, right) = corner.isRight ? (columns.right, rect.maxX) : (rect.x, columns.left)
            let (top, bottom) = corner.isBottom ? (rows.bottom, rect.maxY) : (rect.y, rows.top)
            return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        }

        /// The position of a corner's mask of `side` samples a side.
        func origin(_ corner: Corner, side: Int) -> (x: Int, y: Int) {
            (corner.isRight ? rect.maxX - side : rect.x, corner.isBottom ? rect.maxY - side : rect.y)
        }

        /// Calls `body` with the rectangles between the corners that belong to a shape.
        func forEachStraightPart(of kind: Kind, _ body: (PixelRect) -> Void) {
            let (left, right, top, bottom) = (columns.left, columns.right, rows.top, rows.bottom)
            switch kind {
            case .surroundings:
                break
            case .rectangle:
                body(PixelRect(x: left, y: rect.y, width: right - left, height: top - rect.y))
                body(PixelRect(x: rect.x, y: top, width: rect.width, height: bottom - top))
                body(PixelRect(x: left, y: bottom, width: right - left, height: rect.maxY - bottom))
            case .border(let width):
                body(PixelRect(x: left, y: rect.y, width: right - left, height: width))
                body(PixelRect(x: rect.x, y: top, width: width, height: bottom - top))
                body(PixelRect(x: rect.maxX - width, y: top, width: width, height: bottom - top))
                body(PixelRect(x: left, y: rect.maxY - width, width: right - left, height: width))
            }
        }
    }
}

/// A rectangle of luma samples, from the top left corner.
public struct PixelRect: Hashable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// The whole of a picture.
    public init(_ dimensions: VideoDimensions) {
        self.init(x: 0, y: 0, width: dimensions.width, height: dimensions.height)
    }

    public var dimensions: VideoDimensions { VideoDimensions(width: width, height: height) }

    /// The first column right of the rectangle, within the range of `Int`.
    public var maxX: Int { Self.end(x, width) }
    /// The first row below the rectangle, within the range of `Int`.
    public var maxY: Int { Self.end(y, height) }

    private static func end(_ start: Int, _ length: Int) -> Int {
        let (end, overflow) = start.addingReportingOverflow(length)
        return overflow ? (start < 0 ? .min : .max) : end
    }
    /// The number of samples, within the range of `Int`.
    public var area: Int {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? ((width < 0) == (height < 0) ? .max : .min) : area
    }
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// Returns true if the two share at least one sample.
    public func overlaps(_ other: PixelRect) -> Bool {
        !isEmpty && !other.isEmpty && x < other.maxX && other.x < maxX && y < other.maxY && other.y < maxY
    }

    /// Returns true if every sample of `other` is in this rectangle.
    public func contains(_ other: PixelRect) -> Bool {
        other.x >= x && other.y >= y && other.maxX <= maxX && other.maxY <= maxY
    }
}

extension PixelRect: CustomStringConvertible {
    public var description: String { "\(width)x\(height)+\(x)+\(y)" }
}

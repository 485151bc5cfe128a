import MediaCore
import PixelTransfer

/// A shape that fits any rectangle: its corners are masks, made once, and between them it is straight.
public struct RoundedShape: Sendable {
    /// A part of a rectangle with rounded corners.
    public enum Kind: Hashable, Sendable {
        /// A rectangle with square corners.
        case rectangle
        /// A border along its inside, of a width in luma samples, from 1 on.
        case border(width: Int)
        /// The area that rounding removes: the four spots between the corners of the rectangle and of the round
        /// rectangle.
        case surroundings
    }

    enum Corner: Int {
        case topLeft
        case topRight
        case bottomLeft
        case bottomRight

        static let all: [Corner] = [.topLeft, .topRight, .bottomLeft, .bottomRight]

        static func visitAll(_ body: (Corner) -> Void) {
            body(.topLeft)
            body(.topRight)
            body(.bottomLeft)
            body(.bottomRight)
        }

        var isRight: Bool { self == .topRight || self == .bottomRight }
        var isBottom: Bool { self == .bottomLeft || self == .bottomRight }
    }

    /// The largest radius and width; larger ones are taken for it.
    public static let maximumRadius = 256

    public let kind: Kind
    /// The radius of the outer edge, in luma samples; 0 for square corners.
    public let radius: Int
    /// The masks, by corner. They are one sample larger than the curve, so that they reach to the next chroma sample.
    private let masks: [AlphaMask]

    public init(_ kind: Kind, radius: Int) {
        let radius = Self.clamp(radius)
        if case .border(let width) = kind {
            self.kind = .border(width: max(1, Self.clamp(width)))
        } else {
            self.kind = kind
        }
        self.radius = radius
        let (kind, side) = (self.kind, Self.extent(self.kind, radius: radius) + 1)
        masks = Corner.all.map { corner in
            AlphaMask(dimensions: VideoDimensions(width: side, height: side)) { x, y in
                Self.coverage(
                    of: kind, radius: radius, x: corner.isRight ? side - 1 - x : x,
                    y: corner.isBottom ? side - 1 - y : y)
            }
        }
    }

    /// The number of luma samples of each side that belong to a corner.
    var extent: Int { Self.extent(kind, radius: radius) }

    func mask(_ corner: Corner) -> AlphaMask { masks[corner.rawValue] }

    private static func extent(_ kind: Kind, radius: Int) -> Int {
        guard case .border(let width) = kind else { return radius }
        return max(radius, width)
    }

    private static func clamp(_ value: Int) -> Int { min(max(0, value), maximumRadius) }

    /// The coverage of a sample, counted from the top left corner: of 8 × 8 points in it, how many are in the shape.
    private static func coverage(of kind: Kind, radius: Int, x: Int, y: Int) -> UInt8 {
        var count = 0
        for row in 0..<8 {
            for column in 0..<8 {
                // In 16ths of a sample, so that the centres of the 64 squares are whole numbers.
                let (pointX, pointY) = (16 * x + 2 * column + 1, 16 * y + 2 * row + 1)
                let isInside = isInside(pointX, pointY, radius: 16 * radius)
                let isInShape =
                    switch kind {
                    case .rectangle: isInside
                    case .surroundings: !isInside
                    case .border(let width):
                        isInside
                            && !Self.isInside(
                                pointX - 16 * width, pointY - 16 * width, radius: 16 * max(0, radius - width))
                    }
                if isInShape { count += 1 }
            }
        }
        return UInt8(truncatingIfNeeded: (count * 255 + 32) / 64)
    }

    /// Returns true if a point is in the quarter of the plane right of and below 0 whose corner is rounded.
    private static func isInside(_ x: Int, _ y: Int, radius: Int) -> Bool {
        guard x >= 0, y >= 0 else { return false }
        guard x < radius, y < radius else { return true }
        let (dx, dy) = (radius - x, radius - y)
        return dx * dx + dy * dy <= radius * radius
    }
}

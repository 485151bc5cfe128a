/// The way in which a picture fills a rectangle of another shape.
public struct LayerFit: Hashable, Sendable {
    public enum Mode: String, Codable, CaseIterable, Sendable {
        /// The whole picture is shown between black bars.
        case contain
        /// The picture fills the rectangle; the excess of width or height is cut off.
        case cover
    }

    public var mode: Mode
    /// The point that stays visible, as near to the centre as possible, if the picture is cropped.
    public var focus: FocusPoint

    public init(_ mode: Mode, focus: FocusPoint = .centre) {
        self.mode = mode
        self.focus = focus
    }

    public static let contain = LayerFit(.contain)
    /// Cuts off the same amount on both sides.
    public static let cover = LayerFit(.cover)

    public static func cover(focus: FocusPoint) -> LayerFit { LayerFit(.cover, focus: focus) }
}

/// A point of an upright picture, in fractions of its width and height from its upper left corner.
public struct FocusPoint: Hashable, Sendable {
    /// The horizontal position, from 0 to 1.
    public var x: Double
    /// The vertical position, from 0 to 1.
    public var y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    public static let centre = FocusPoint(x: 0.5, y: 0.5)
}

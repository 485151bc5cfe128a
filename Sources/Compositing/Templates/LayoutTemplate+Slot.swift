extension LayoutTemplate {
    /// A place on the canvas and its rules.
    public struct Slot: Hashable, Sendable {
        /// The slot's name, unique in its arrangement.
        public var name: String
        public var area: Area
        /// The rules for the slot's source: the first rule that finds a source not shown yet is used. A slot of many
        /// tiles takes all that each rule finds, one rule after the other.
        public var show: [Rule]
        public var tiling: Tiling
        /// The most tiles that it has, of many.
        public var mostTiles: Int
        /// The gap between its tiles, as a fraction of the canvas's shorter side.
        public var gap: Double
        /// The fit; nil means that a camera fills its tile, and that a screen is shown completely.
        public var fit: LayerFit.Mode?
        public var focus: FocusPoint
        /// The corners' radius as a fraction of the tile's shorter side.
        public var cornerRadius: Double
        public var border: Border?
        /// The opacity from 0 (invisible) to 1.
        public var opacity: Double
        /// The height: higher values lie above; slots with equal values lie in their order.
        public var zOrder: Int
        /// True if names and the speaker are shown.
        public var isLabelled: Bool
        public var whenEmpty: EmptySlot

        public init(
            name: String, area: Area = .fullscreen, show: [Rule], tiling: Tiling = .single, mostTiles: Int = 16,
            gap: Double = 0, fit: LayerFit.Mode? = nil, focus: FocusPoint = .centre, cornerRadius: Double = 0,
            border: Border? = nil, opacity: Double = 1, zOrder: Int = 0, isLabelled: Bool = true,
            whenEmpty: EmptySlot = .background
        ) {
            self.name = name
            self.area = area
            self.show = show
            self.tiling = tiling
            self.mostTiles = mostTiles
            self.gap = gap
            self.fit = fit
            self.focus = focus
            self.cornerRadius = cornerRadius
            self.border = border
            self.opacity = opacity
            self.zOrder = zOrder
            self.isLabelled = isLabelled
            self.whenEmpty = whenEmpty
        }
    }

    /// A part of the canvas, in fractions of its width and height from its upper left corner.
    public struct Area: Hashable, Sendable {
        public var x: Double
        public var y: Double
        public var width: Double
        public var height: Double

        public init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        public static let fullscreen = Area(x: 0, y: 0, width: 1, height: 1)
    }

    /// The number and arrangement of a slot's tiles.
    public enum Tiling: String, Codable, Hashable, Sendable, CaseIterable {
        /// One tile that fills the slot.
        case single
        /// As many tiles of 16:9 as fit best, in a grid.
        case grid
        /// One row of 16:9 tiles, in the middle of the slot.
        case row
        /// One column of 16:9 tiles, in the middle of the slot.
        case column
    }

    /// A line around a tile, inside its edge.
    public struct Border: Hashable, Sendable {
        /// The width as a fraction of the canvas's shorter side.
        public var width: Double
        public var colour: RGBColour

        public init(width: Double, colour: RGBColour) {
            self.width = width
            self.colour = colour
        }
    }

    /// The use of a slot's place while it shows nobody.
    public enum EmptySlot: Hashable, Sendable {
        /// The background is seen there.
        case background
        /// The slot is left out, and the named one takes the smallest rectangle around both.
        case enlarge(String)
    }

    /// The participants that a slot shows. A participant in an earlier slot is not shown again.
    public enum Rule: Hashable, Sendable {
        /// The screen that is presented; of several the newest.
        case screen
        /// The active or last speaker; until somebody has spoken, the participant that joined first. Nobody else.
        case speaker
        /// The speaker before the present one. Nobody else.
        case previousSpeaker
        /// Sources in the order of the last time of speaking, then in that of joining.
        case recent
        /// Sources in the order of joining.
        case next
        /// The camera of the participant with this name.
        case participant(named: String)
        /// The screen share of the participant with this name.
        case screenOf(named: String)
    }
}

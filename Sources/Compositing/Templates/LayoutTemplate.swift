public import PixelTransfer

/// A custom layout: named slots in fractions of the canvas, each with rules for its source.
///
/// It comes as JSON, which docs/templates.md describes key by key. Decoding is strict: mistakes throw a
/// `LayoutTemplateError` that gives their places.
public struct LayoutTemplate: Hashable, Sendable {
    /// Its name in messages; empty for none.
    public var name: String
    public var background: Background
    /// The arrangements. The first one that fits the participants is used; if none fits, only background and overlays
    /// are shown.
    public var arrangements: [Arrangement]
    /// The overlays above all slots, in this order.
    public var overlays: [Overlay]

    /// - Parameter arrangements: At most `maximumArrangementCount`.
    public init(
        name: String = "", background: Background = .standard, arrangements: [Arrangement], overlays: [Overlay] = []
    ) {
        self.name = name
        self.background = background
        self.arrangements = arrangements
        self.overlays = overlays
    }

    /// The most arrangements that JSON may have.
    public static let maximumArrangementCount = 16
    /// The most slots that an arrangement may have in JSON.
    public static let maximumSlotCount = 64

    /// The background between slots.
    public enum Background: Hashable, Sendable {
        case colour(RGBColour)
        /// An image of the relay's, by its name; it covers the canvas.
        case image(String)

        /// A compositor's own.
        public static let standard = Background.colour(RGBColour(red: 9, green: 9, blue: 9))
    }

    /// The slots for some number of participants.
    public struct Arrangement: Hashable, Sendable {
        /// The number of cameras for which the arrangement is used.
        public var participants: CountRange
        /// The number of screen shares for which the arrangement is used.
        public var screens: CountRange
        /// The slots, in the order in which they choose their sources.
        public var slots: [Slot]

        public init(participants: CountRange = .any, screens: CountRange = .any, slots: [Slot]) {
            self.participants = participants
            self.screens = screens
            self.slots = slots
        }
    }

    /// A logo, a line of text or a clock.
    public struct Overlay: Hashable, Sendable {
        public enum Content: Hashable, Sendable {
            /// An image of the relay's, by its name.
            case image(String)
            case text(String)
            /// A clock with this offset in minutes from UTC.
            case clock(utcOffset: Int)
        }

        public var content: Content
        public var anchor: CompositionOverlay.Anchor
        /// The height as a fraction of the canvas's height.
        public var height: Double
        /// The opacity from 0 (invisible) to 1.
        public var opacity: Double

        public init(_ content: Content, anchor: CompositionOverlay.Anchor, height: Double, opacity: Double = 1) {
            self.content = content
            self.anchor = anchor
            self.height = height
            self.opacity = opacity
        }
    }

    /// A colour as written in JSON.
    public struct RGBColour: Hashable, Sendable {
        public var red: UInt8
        public var green: UInt8
        public var blue: UInt8

        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }

        /// The colour in video, by BT.601 in limited range.
        public var video: YCbCrColour {
            YCbCrColour(red: Double(red) / 255, green: Double(green) / 255, blue: Double(blue) / 255)
        }
    }

    /// A range of numbers of participants.
    public struct CountRange: Hashable, Sendable {
        public var least: Int
        /// The largest number; nil for any number from `least` on.
        public var most: Int?

        public init(least: Int, most: Int?) {
            self.least = least
            self.most = most
        }

        public static let any = CountRange(least: 0, most: nil)

        func contains(_ count: Int) -> Bool { count >= least && (most.map { count <= $0 } ?? true) }
    }
}

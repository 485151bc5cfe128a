public import MediaCore

/// Something about a plan that is wrong, or that will not look as it was meant.
public struct CompositionIssue: Hashable, Sendable {
    /// A property of a layer that changes.
    public enum Property: String, Hashable, Sendable {
        case place
        case opacity
    }

    public enum Kind: Hashable, Sendable {
        /// An instruction holds for no time, or its times are none.
        case instructionWithoutTime
        /// No instruction covers the time between two instructions.
        case gap
        /// Two instructions hold at the same time.
        case overlap
        /// An instruction comes after one that begins later.
        case instructionOutOfOrder
        /// A ramp is longer than its instruction, or reaches out of it.
        case rampOutsideInstruction(SourceID, Property, MediaTimeRange)
        /// Two ramps of one property of a layer hold at the same time, or the later one stands first.
        case overlappingRamps(SourceID, Property)
        /// A layer, or its rectangle in a ramp, is partly outside the canvas.
        case layerOutsideCanvas(SourceID, PixelRect)
        /// A layer, or its rectangle in a ramp, has no samples.
        case emptyLayer(SourceID, PixelRect)
        /// A layer, or its rectangle in a ramp, begins or ends within a chroma sample.
        case oddPosition(SourceID, PixelRect)
        /// A layer's opacity is not from 0 to 1.
        case opacityOutOfRange(SourceID, Double)
        /// Rounded corners of this radius do not fit in the layer, or the radius is negative.
        case cornerRadiusTooLarge(SourceID, Int)
        /// A border of this width leaves nothing of the layer, or the width is not positive.
        case borderTooWide(SourceID, Int)
        /// A source is required that no layer shows.
        case sourceWithoutLayer(SourceID)
        /// A layer shows a source that is not required.
        case layerWithoutSource(SourceID)
        /// A place without a layer and without a background.
        case missingBackground(PixelRect)
        /// A passthrough source is not the only thing visible, or not visible unchanged.
        case contradictedPassthrough(SourceID)
        /// An overlay's opacity is not from 0 to 1, or its height is not a part of the canvas's.
        case overlayOutOfRange(CompositionOverlay.Anchor)
    }

    public var kind: Kind
    /// The time of the issue: the instruction's time range, or the gap or overlap.
    public var timeRange: MediaTimeRange

    public init(_ kind: Kind, timeRange: MediaTimeRange) {
        self.kind = kind
        self.timeRange = timeRange
    }
}

extension CompositionIssue: CustomStringConvertible {
    public var description: String { description { $0.description } }

    /// A sentence, in which a source is called as `name` says.
    public func description(naming name: (SourceID) -> String) -> String {
        "\(Self.describe(timeRange)): \(kind.sentence(name))"
    }

    /// `1.5 s to 1.8 s`.
    private static func describe(_ range: MediaTimeRange) -> String {
        guard range.isValid else { return "at no valid time (\(range))" }
        let start = range.start.isNumeric ? "from \(range.start.inSeconds)" : "from the beginning"
        return range.end.isNumeric ? "\(start) to \(range.end.inSeconds)" : "\(start) on"
    }
}

extension CompositionIssue.Kind {
    fileprivate func sentence(_ name: (SourceID) -> String) -> String {
        switch self {
        case .instructionWithoutTime: "an instruction holds for no time"
        case .gap: "no instruction says what is shown"
        case .overlap: "two instructions say what is shown"
        case .instructionOutOfOrder: "this instruction stands behind one that begins later"
        case .rampOutsideInstruction(let source, let property, let range):
            "a ramp of the \(property.rawValue) of \(name(source)), "
                + "\(range.start.inSeconds) to \(range.end.inSeconds), reaches out of its instruction"
        case .overlappingRamps(let source, let property):
            "ramps of the \(property.rawValue) of \(name(source)) overlap or are out of order"
        case .layerOutsideCanvas(let source, let rect): "\(name(source)) at \(rect) is not all on the canvas"
        case .emptyLayer(let source, let rect): "\(name(source)) at \(rect) has no samples"
        case .oddPosition(let source, let rect):
            "\(name(source)) at \(rect) begins or ends within a chroma sample: positions and sizes are even"
        case .opacityOutOfRange(let source, let opacity):
            "the opacity of \(name(source)), \(opacity), is not from 0 to 1"
        case .cornerRadiusTooLarge(let source, let radius):
            "corners of radius \(radius) do not fit in \(name(source)): at most half of its shorter side"
        case .borderTooWide(let source, let width):
            "a border of \(width) leaves nothing of \(name(source)): less than half of its shorter side"
        case .sourceWithoutLayer(let source): "\(name(source)) is required, but no layer shows it"
        case .layerWithoutSource(let source): "a layer shows \(name(source)), which is not required"
        case .missingBackground(let rect): "there is no background, and no layer surely covers \(rect)"
        case .contradictedPassthrough(let source):
            "\(name(source)) is passed through, but is not all that is seen, or not seen unchanged"
        case .overlayOutOfRange(let anchor):
            "the overlay at \(anchor.rawValue) has an opacity that is not from 0 to 1 or a height that is "
                + "none of the canvas's"
        }
    }
}

extension MediaTime {
    /// The time in seconds, to the millisecond.
    fileprivate var inSeconds: String {
        guard isNumeric else { return description }
        let milliseconds = converted(toTimescale: 1000, rounding: .toNearestOrAwayFromZero).value
        let (seconds, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest + 1000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "")\(seconds).\(digits) s"
    }
}

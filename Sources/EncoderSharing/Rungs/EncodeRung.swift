public import MediaCore

/// A size and a frame rate in which pictures are composed and encoded.
public struct EncodeRung: Hashable, Sendable {
    public var dimensions: VideoDimensions
    /// Pictures a second at most.
    public var frameRate: Int
    /// The distance of encoded ticks: one of this many is encoded.
    package var divisor = 1

    package init(dimensions: VideoDimensions, roomFrameRate: Int, divisor: Int = 1) {
        self.dimensions = dimensions
        self.divisor = max(1, divisor)
        frameRate = max(1, roomFrameRate / max(1, divisor))
    }
}

extension EncodeRung: CustomStringConvertible {
    public var description: String { "\(dimensions)@\(frameRate)" }
}

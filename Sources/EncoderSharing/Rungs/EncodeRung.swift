public import MediaCore

/// A size and a frame rate in which pictures are composed and encoded.
public struct EncodeRung: Hashable, Sendable {
    public var dimensions: VideoDimensions
    /// Pictures a second, while the room has all its ticks. While overload control leaves some out, the nearest whole
    /// part of the others is encoded.
    public var frameRate: Int

    package init(dimensions: VideoDimensions, frameRate: Int) {
        self.dimensions = dimensions
        self.frameRate = max(1, frameRate)
    }

    /// The number of ticks of which one is encoded, to come near the frame rate.
    package func divisor(ofTicks tickRate: Int) -> Int {
        max(1, Int(clamping: (Double(tickRate) / Double(max(1, frameRate))).rounded()))
    }

    /// The same with the pictures a second that are encoded of so many ticks (20, not 15, of 20); nil: of as many as
    /// the frame rate takes.
    package func encoded(ofTicks tickRate: Int?) -> EncodeRung {
        guard let tickRate else { return self }
        var rung = self
        rung.frameRate = max(1, tickRate / divisor(ofTicks: tickRate))
        return rung
    }
}

extension EncodeRung: CustomStringConvertible {
    public var description: String { "\(dimensions)@\(frameRate)" }
}

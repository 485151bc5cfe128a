public import MediaCore

/// A size and a frame rate in which pictures are composed and encoded.
public struct EncodeRung: Hashable, Sendable {
    public var dimensions: VideoDimensions
    /// Pictures a second, while the room has all its ticks. While overload control leaves some out, the nearest whole
    /// part of the others is encoded.
    public var frameRate: Int
    /// The room's frame rate, in frame rates of the rung.
    package var divisor = 1

    package init(dimensions: VideoDimensions, roomFrameRate: Int, divisor: Int = 1) {
        self.dimensions = dimensions
        self.divisor = max(1, divisor)
        frameRate = max(1, roomFrameRate / max(1, divisor))
    }

    /// The same with no more pictures a second than these.
    func limited(to frameRate: Int) -> EncodeRung {
        var rung = self
        rung.frameRate = max(1, min(rung.frameRate, frameRate))
        return rung
    }
}

extension EncodeRung: CustomStringConvertible {
    public var description: String { "\(dimensions)@\(frameRate)" }
}

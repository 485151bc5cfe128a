import MediaCore

/// Encodes every second picture only while the rate leaves too few bits for each: fewer sharp pictures rather than many
/// that smear. It needs no keyframe.
struct FrameRateDivisor {
    /// Bits a pixel below which the frame rate is halved, and above which it is restored.
    private static let halveBelow = 0.006
    private static let restoreAbove = 0.010

    private let dimensions: VideoDimensions
    private let frameRate: Int
    private(set) var divisor = 1

    init(dimensions: VideoDimensions, frameRate: Int) {
        self.dimensions = dimensions
        self.frameRate = frameRate
    }

    /// Pictures a second that are encoded.
    var framesPerSecond: Int { max(1, frameRate / divisor) }
    /// The same where no more than one tick in `other` is composed.
    func framesPerSecond(divisor other: Int) -> Int { max(1, frameRate / max(divisor, other)) }

    mutating func update(bitRate: BitRate) {
        let bitsPerPixel = Double(bitRate.bitsPerSecond) / (Double(dimensions.area) * Double(frameRate))
        if bitsPerPixel < Self.halveBelow {
            divisor = 2
        } else if bitsPerPixel > Self.restoreAbove {
            divisor = 1
        }
    }
}

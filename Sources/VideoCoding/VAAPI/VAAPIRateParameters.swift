import MediaCore

/// The parameters of a driver's rate control for every frame, so that a rate changes between two frames without an IDR
/// picture.
///
/// A driver that sees another value may begin its rate control anew: so the values stay the same to the bit until the
/// rate has moved by more than a hundredth.
struct VAAPIRateParameters: Hashable, Sendable {
    private(set) var bitsPerSecond: UInt32
    /// The frame rate: its denominator in the upper half, its numerator in the lower one.
    private(set) var frameRate: UInt32
    /// The decoder's buffer as a time: what frames may take beyond their share.
    private(set) var window: Duration

    /// Changes smaller than this share are not told.
    private static let resolution = 0.01
    /// A buffer of one frame leaves a driver no choice, and a second lets a frame take ten times its share.
    private static let windows = Duration.milliseconds(100)...Duration.milliseconds(150)

    init(_ properties: CompressionProperties) {
        let rate = EncodingRate(properties)
        bitsPerSecond = Self.bits(rate)
        frameRate = Self.fraction(rate.frameRate)
        window = Self.window(properties)
    }

    /// Takes over a rate that is worth telling.
    mutating func update(_ properties: CompressionProperties) {
        let rate = EncodingRate(properties)
        let bits = Self.bits(rate)
        if abs(Double(bits) / Double(bitsPerSecond) - 1) > Self.resolution { bitsPerSecond = bits }
        frameRate = Self.fraction(rate.frameRate)
        window = Self.window(properties)
    }

    private static func window(_ properties: CompressionProperties) -> Duration {
        min(max(properties.latencyBudget, windows.lowerBound), windows.upperBound)
    }

    private static func bits(_ rate: EncodingRate) -> UInt32 {
        max(1, UInt32(clamping: rate.bitRate.bitsPerSecond))
    }

    private static func fraction(_ frameRate: Double) -> UInt32 {
        let rounded = frameRate.rounded()
        if rounded == frameRate { return UInt32(clamping: Int(rounded)) }
        // At most 60 frames a second: the numerator fits in 16 bits.
        return 1000 << 16 | UInt32(clamping: min(65_535, Int((frameRate * 1000).rounded())))
    }

    var windowMilliseconds: UInt32 { UInt32(clamping: window / .milliseconds(1)) }

    /// The buffer in bits.
    var bufferSize: UInt32 { UInt32(clamping: Int(Double(bitsPerSecond) * window.seconds)) }
}

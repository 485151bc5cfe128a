#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Keeps audio within -1 to 1 without clipping it, and without delaying it.
///
/// A gain follows the peaks: down within a millisecond, up again in a tenth of a second. What the gain is too slow for
/// is bent smoothly towards full scale. Audio that stays under the threshold goes through unchanged.
public struct SoftLimiter: Sendable {
    /// The level above which the limiter works: -2 dB of full scale.
    public static let threshold: Float = 0.8

    /// Shares of the way per sample, for 0.3 ms and 100 ms.
    private static let attack: Float = 1 - expf(-1 / (0.0003 * Float(AudioFormat.sampleRate)))
    private static let release: Float = 1 - expf(-1 / (0.1 * Float(AudioFormat.sampleRate)))
    /// A gain nearer to one than this is one: no one hears it, and `Float` would not get much nearer in such small
    /// steps.
    private static let unityMargin: Float = 5e-4

    /// The gain after the last sample; 1 while nothing has to be limited.
    public private(set) var gain: Float = 1

    public init() {}

    /// Limits `samples` in place.
    public mutating func process(_ samples: inout [Float]) {
        samples.withUnsafeMutableBufferPointer { samples in
            if gain == 1 {
                var peak: Float = 0
                for sample in samples { peak = max(peak, abs(sample)) }
                if peak <= Self.threshold { return }
            }
            var gain = gain
            for index in samples.indices {
                let sample = samples[index]
                let magnitude = abs(sample)
                let wanted = magnitude > Self.threshold ? Self.threshold / magnitude : 1
                gain += (wanted - gain) * (wanted < gain ? Self.attack : Self.release)
                samples[index] = Self.bend(sample * gain)
            }
            self.gain = gain > 1 - Self.unityMargin ? 1 : gain
        }
    }

    /// Forgets what was before.
    public mutating func reset() {
        gain = 1
    }

    /// The sample itself under the threshold; above it a curve that reaches full scale at infinity.
    private static func bend(_ sample: Float) -> Float {
        let excess = abs(sample) - threshold
        guard excess > 0 else { return sample }
        let room = 1 - threshold
        let bent = threshold + room * excess / (excess + room)
        return sample < 0 ? -bent : bent
    }
}

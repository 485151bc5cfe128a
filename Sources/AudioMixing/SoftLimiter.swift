import Glibc

/// Keeps audio within -1 to 1 without clipping and without delay.
///
/// A gain follows the peaks: down within a millisecond, up in a tenth of a second. Peaks that the gain is too slow for
/// are bent smoothly towards full scale. Audio under the threshold goes through unchanged.
public struct SoftLimiter: Sendable {
    /// The level above which the limiter works: -2 dB of full scale.
    public static let threshold: Float = 0.8

    /// The shares of the difference per sample for 0.3 ms and 100 ms.
    private static let attack: Float = 1 - expf(-1 / (0.0003 * Float(AudioFormat.sampleRate)))
    private static let release: Float = 1 - expf(-1 / (0.1 * Float(AudioFormat.sampleRate)))
    /// A gain this near to one becomes one: the difference is inaudible, and `Float` could not come nearer in such
    /// small steps.
    private static let unityMargin: Float = 5e-4

    /// The gain after the last sample; 1 while nothing is limited.
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

    /// Forgets the samples before.
    public mutating func reset() {
        gain = 1
    }

    /// Returns the sample itself under the threshold, above it a curve that reaches full scale at infinity.
    private static func bend(_ sample: Float) -> Float {
        let excess = abs(sample) - threshold
        guard excess > 0 else { return sample }
        let room = 1 - threshold
        let bent = threshold + room * excess / (excess + room)
        return sample < 0 ? -bent : bent
    }
}

import Glibc
public import MediaCore

/// Measures the level of frames and detects speech: audio that stands out from the background.
public struct LevelMeter: Sendable {
    /// The distance from the background at which a frame is speech, in decibels.
    private static let voiceMargin: Float = 9
    /// The lowest level of speech, in decibels.
    private static let quietestVoice: Float = -55
    /// The highest level that counts as background, in decibels.
    private static let loudestBackground: Float = -35
    /// A lower background makes no quieter frame speech, but takes longer to rise.
    private static let quietestBackground = quietestVoice - voiceMargin
    /// Quieter frames say nothing of the background: no microphone makes them, but one that is muted, or a loss.
    private static let quietestMicrophone: Float = -75
    /// The rise of the background estimate: 2.5 dB a second. It falls at once.
    private static let backgroundRise: Float = 0.05
    /// Speech lasts for this many frames from a loud one on, because it has pauses.
    private static let hangover = 10

    private var background: Float = -60
    private var voiceFrames = 0

    public init() {}

    /// Measures the next frame.
    public mutating func measure(_ frame: [Float]) -> AudioLevel { judge(Self.decibels(frame)) }

    /// Judges the next frame of 20 ms by its level alone and not by the sender's own detection of speech, which differs
    /// between senders.
    public mutating func judge(_ level: AudioLevel) -> AudioLevel { judge(-Float(level.decibelsBelowOverload)) }

    private mutating func judge(_ decibels: Float) -> AudioLevel {
        if decibels > Self.quietestMicrophone {
            background = min(decibels, background + Self.backgroundRise, Self.loudestBackground)
            background = max(background, Self.quietestBackground)
        }
        if decibels > max(background + Self.voiceMargin, Self.quietestVoice) {
            voiceFrames = Self.hangover
        } else {
            voiceFrames = max(0, voiceFrames - 1)
        }
        return AudioLevel(decibelsBelowOverload: Self.levelValue(decibels), isVoice: voiceFrames > 0)
    }

    /// Records a frame of silence.
    mutating func skip() -> AudioLevel {
        voiceFrames = 0
        return .silence
    }

    /// The level of a frame, without detection of speech.
    static func level(_ frame: [Float]) -> AudioLevel {
        AudioLevel(decibelsBelowOverload: levelValue(decibels(frame)))
    }

    /// The frame's mean power in decibels; 0 is that of a square wave between -1 and 1 (RFC 6464, 3).
    private static func decibels(_ frame: [Float]) -> Float {
        let energy = frame.withUnsafeBufferPointer(energy)
        return 10 * log10f(max(energy / Float(max(frame.count, 1)), 1e-13))
    }

    /// The sum of the squares of samples, without the last one to three if their number is no multiple of four.
    static func energy(_ samples: UnsafeBufferPointer<Float>) -> Float {
        // Four sums that do not depend on each other.
        var (a, b, c, d): (Float, Float, Float, Float) = (0, 0, 0, 0)
        var index = 0
        while index + 4 <= samples.count {
            a += samples[index] * samples[index]
            b += samples[index + 1] * samples[index + 1]
            c += samples[index + 2] * samples[index + 2]
            d += samples[index + 3] * samples[index + 3]
            index += 4
        }
        return a + b + c + d
    }

    private static func levelValue(_ decibels: Float) -> UInt8 {
        min(UInt8(clamping: Double(-decibels).rounded()), 127)
    }
}

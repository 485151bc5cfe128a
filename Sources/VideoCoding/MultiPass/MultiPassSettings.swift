import Glibc
import MediaCore

/// What all passes over a recording have in common.
struct MultiPassSettings {
    var backEnd: EncoderBackEnd
    var dimensions: VideoDimensions
    var frameRate: Int
    var averageBitRate: BitRate
    var profile: H264Profile
    var level: H264Level
    var preset: EncoderPreset
    var allowsFrameReordering: Bool
    var usesArithmeticCoding: Bool
    /// The most frames from one key frame to the next.
    var maximumKeyFrameInterval: Int

    /// The settings by name, so that a storage knows passes that do not belong together.
    var fingerprint: [String] {
        [
            "back end=\(backEnd.rawValue)", "picture size=\(dimensions)", "frame rate=\(frameRate)",
            "average bit rate=\(averageBitRate)", "profile=\(profile.rawValue)", "level=\(level.levelIDC)",
            "preset=\(preset.rawValue)", "frame reordering=\(allowsFrameReordering)",
            "entropy coding=\(usesArithmeticCoding ? "CABAC" : "CAVLC")",
            "maximum key frame interval=\(maximumKeyFrameInterval)",
        ]
    }

    /// A rate factor that gives about the average bit rate with content of no particular kind.
    var likelyRateFactor: Double {
        let samples = Double(dimensions.width * dimensions.height * frameRate)
        let bitsPerSample = Double(averageBitRate.bitsPerSecond) / max(1, samples)
        // Half the bits, six steps.
        let steps = 6 * log2(max(bitsPerSample, 1e-6) / Self.usualBitsPerSample)
        let range = PassPlanner.rateFactors
        return min(max(Self.usualRateFactor - steps, range.lowerBound + 4), range.upperBound - 8)
    }

    private static let usualRateFactor = 23.0
    private static let usualBitsPerSample = 0.1
}

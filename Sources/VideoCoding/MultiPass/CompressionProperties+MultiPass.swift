import Glibc
import MediaCore

extension CompressionProperties {
    /// Returns the reason for which several passes are impossible; nil if they are possible.
    var reasonToRefusePasses: String? {
        guard multiPassStorage != nil else { return nil }
        if realTime { return "there is a single pass in real time; set realTime to false" }
        if rateControlMode != .average { return "passes meet an average; set rateControlMode to average" }
        if !dataRateLimits.isEmpty { return "passes meet an average only; set no dataRateLimits" }
        if maxFrameBytes != nil { return "passes meet an average only; set no maxFrameBytes" }
        if intraRefreshPeriod != nil { return "passes need keyframes; set no intraRefreshPeriod" }
        if longTermReferences { return "no frames are lost between passes; set longTermReferences to false" }
        return nil
    }

    /// The properties, by name, that passes over a recording must have in common.
    func fingerprint(dimensions: VideoDimensions) -> [String] {
        [
            "back end=x264", "picture size=\(dimensions)", "expectedFrameRate=\(expectedFrameRate)",
            "averageBitRate=\(averageBitRate.bitsPerSecond) bit/s", "profile=\(profileLevel.profile.rawValue)",
            "level=\(profileLevel.level.map { "\($0.levelIDC)" } ?? "any")", "preset=\(preset.rawValue)",
            "allowFrameReordering=\(allowFrameReordering)", "entropyMode=\(entropyMode?.rawValue ?? "any")",
            "keyframe interval=\(passKeyframeInterval)", "sliceMaxBytes=\(sliceMaxBytes?.bytes ?? 0)",
            "temporalLayers=\(temporalLayers)", "pixelAspectRatio=\(pixelAspectRatio)",
            "colour=\(colour.primaries)/\(colour.transferCharacteristics)/\(colour.matrixCoefficients)"
                + (colour.isFullRange ? " full range" : ""),
        ]
    }

    /// The most frames from one keyframe to the next in a recording: ten seconds, or less if requested, so that players
    /// can seek and passes can cover parts.
    var passKeyframeInterval: Int {
        let asked = min(maxKeyframeIntervalDuration?.seconds ?? .infinity, Self.longestInterval)
        let frames = max(1, (asked * expectedFrameRate).rounded())
        return min(maxKeyframeInterval ?? .max, Int(clamping: frames))
    }

    private static let longestInterval = 10.0

    /// A rate factor that gives about the average bit rate with content of no particular kind.
    func likelyRateFactor(dimensions: VideoDimensions) -> Double {
        let samples = Double(dimensions.width * dimensions.height) * expectedFrameRate
        let bitsPerSample = Double(averageBitRate.bitsPerSecond) / max(1, samples)
        // Six steps more are about half the bits.
        let steps = 6 * log2(max(bitsPerSample, 1e-6) / Self.usualBitsPerSample)
        let range = PassPlanner.rateFactors
        return min(max(Self.usualRateFactor - steps, range.lowerBound + 4), range.upperBound - 8)
    }

    private static let usualRateFactor = 23.0
    private static let usualBitsPerSample = 0.1
}

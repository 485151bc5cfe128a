import MediaCore

/// Which size and frame rate an H.264 level allows (H.264 table A-1).
enum CanvasFitting {
    private static let levels: [(levelIDC: UInt8, macroblocksPerSecond: Int, macroblocks: Int)] = [
        (10, 1485, 99), (11, 3000, 396), (12, 6000, 396), (13, 11880, 396), (20, 11880, 396), (21, 19800, 792),
        (22, 20250, 1620), (30, 40500, 1620), (31, 108_000, 3600), (32, 216_000, 5120), (40, 245_760, 8192),
        (41, 245_760, 8192), (42, 522_240, 8704), (50, 589_824, 22080), (51, 983_040, 36864), (52, 2_073_600, 36864),
    ]

    /// The largest of the canvas' size and its fractions that `levelIDC` allows at `frameRate`, or the smallest.
    static func dimensions(
        canvas: VideoDimensions, frameRate: Int, levelIDC: UInt8
    ) -> VideoDimensions {
        // Level 9 is 1b; what lies between two known levels has the limits of the lower.
        let limits = levels.last { $0.levelIDC <= max(levelIDC, 10) } ?? levels[0]
        let candidates = [(1, 1), (3, 4), (1, 2), (3, 8), (1, 4), (1, 8)].map { numerator, denominator in
            VideoDimensions(
                width: max(16, canvas.width * numerator / denominator / 2 * 2),
                height: max(16, canvas.height * numerator / denominator / 2 * 2))
        }
        let fitting = candidates.first { size in
            let macroblocks = ((size.width + 15) / 16) * ((size.height + 15) / 16)
            return macroblocks <= limits.macroblocks && macroblocks * frameRate <= limits.macroblocksPerSecond
        }
        return fitting ?? candidates[candidates.count - 1]
    }
}

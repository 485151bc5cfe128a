import MediaCore
import VideoCoding

/// Which size of the composed picture an H.264 level allows.
enum CanvasFitting {
    private static let fractions = [(1, 1), (3, 4), (1, 2), (3, 8), (1, 4), (1, 8)]

    /// The largest of the canvas' size and its fractions that `levelIDC` allows at `frameRate`, or the smallest.
    static func dimensions(canvas: VideoDimensions, frameRate: Int, levelIDC: UInt8) -> VideoDimensions {
        let candidates = fractions.map { numerator, denominator in
            VideoDimensions(
                width: max(16, canvas.width * numerator / denominator / 2 * 2),
                height: max(16, canvas.height * numerator / denominator / 2 * 2))
        }
        guard let level = H264Level(levelIDC: levelIDC) else { return canvas }
        return candidates.first { level.reasonToRefuse($0, frameRate: frameRate) == nil }
            ?? candidates[candidates.count - 1]
    }
}

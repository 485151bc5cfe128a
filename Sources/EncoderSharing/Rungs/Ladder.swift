package import MediaCore

/// The rungs of a canvas, from the whole canvas at the room's frame rate downwards.
///
/// The content decides what is reduced first. With faces in tiles, motion is kept and size reduced; with a screen
/// share, whose letters must stay legible and which moves rarely, the reverse (RFC 7742, 4, and W3C's `contentHint`
/// make the same distinction).
package struct Ladder: Hashable, Sendable {
    /// The preference for motion or detail.
    package enum DegradationPreference: Hashable, Sendable {
        case motion
        case detail
    }

    /// A rung against the canvas: each side by a fraction of it, and every how-many-th tick.
    private struct Step {
        var numerator: Int
        var denominator: Int
        var divisor: Int

        init(_ numerator: Int, _ denominator: Int, every divisor: Int = 1) {
            self.numerator = numerator
            self.denominator = denominator
            self.divisor = divisor
        }

        func dimensions(of canvas: VideoDimensions) -> VideoDimensions {
            guard numerator < denominator else { return canvas }
            return VideoDimensions(
                width: canvas.width * numerator / denominator / 2 * 2,
                height: canvas.height * numerator / denominator / 2 * 2)
        }
    }

    /// The steps. If a size is too small, the frame rate of the smallest possible size is reduced in its place.
    private static let steps: [DegradationPreference: [Step]] = [
        .motion: [
            Step(3, 4), Step(1, 2), Step(1, 1, every: 2), Step(3, 4, every: 2), Step(1, 2, every: 2),
            Step(1, 4, every: 2),
        ],
        .detail: [Step(1, 1, every: 2), Step(1, 1, every: 4), Step(3, 4, every: 4), Step(1, 2, every: 4)],
    ]
    /// The fewest samples of a rung below the canvas: with fewer, faces cannot be distinguished.
    private static let fewestSamples = 320 * 180
    /// The fewest pictures a second of such a rung.
    private static let fewestPictures: [DegradationPreference: Int] = [.motion: 12, .detail: 6]

    /// The highest first; never empty.
    package let rungs: [EncodeRung]
    package let preference: DegradationPreference

    /// - Parameter isOn: True if there are rungs below the canvas.
    package init(canvas: VideoDimensions, frameRate: Int, preference: DegradationPreference, isOn: Bool = true) {
        var rungs = [EncodeRung(dimensions: canvas, frameRate: frameRate)]
        for step in isOn ? Self.steps[preference] ?? [] : [] {
            let rung = EncodeRung(dimensions: step.dimensions(of: canvas), frameRate: frameRate / step.divisor)
            let last = rungs[rungs.count - 1]
            // No step increases what another one reduced.
            let isLess = rung.dimensions.area <= last.dimensions.area && rung.frameRate <= last.frameRate
            let isLarge = rung.dimensions == canvas || rung.dimensions.area >= Self.fewestSamples
            let isFast = step.divisor == 1 || rung.frameRate >= Self.fewestPictures[preference] ?? 1
            if isLess, isLarge, isFast { rungs.append(rung) }
        }
        self.rungs = rungs
        self.preference = preference
    }

    package var top: EncodeRung { rungs[0] }
    package var bottom: EncodeRung { rungs[rungs.count - 1] }
}

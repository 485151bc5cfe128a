public import MediaCore

/// A test camera: the participant's name on a ground of its own colour, a camera's grain, things that move, a clock,
/// and along the top edge the frame counter that `FrameCounterReader` reads.
public final class SyntheticVideoSource: VideoSource {
    public let dimensions: VideoDimensions
    public let frameRate: Double
    public var isLive: Bool { true }
    private let tag: UInt16
    private let strip: FrameCounterStrip?
    /// The same background under different grain, which looks like a camera's noise to an encoder.
    private let backgrounds: [PixelBuffer]
    private let accent: YUVColour
    private let pool: PixelBufferPool
    private var frameIndex: Int64 = 0

    /// Creates a camera.
    ///
    /// - Parameters:
    ///   - name: Shown, and the colour's and the counter's tag's origin.
    ///   - dimensions: Rounded down to even numbers, at least 16x16.
    ///   - frameRate: Frames per second, held within 1…240.
    ///   - showsCounter: True if the frame counter is drawn.
    public init(name: String, dimensions: VideoDimensions, frameRate: Double, showsCounter: Bool = true) {
        let size = VideoDimensions(
            width: max(16, dimensions.width / 2 * 2), height: max(16, dimensions.height / 2 * 2))
        self.dimensions = size
        self.frameRate = min(max(frameRate, 1), 240)
        tag = FrameCounter.tag(for: name)
        strip = showsCounter ? FrameCounterStrip(in: size) : nil
        accent = YUVColour(hue: Self.hue(of: name) + 0.08, saturation: 0.45, brightness: 0.9)
        pool = PixelBufferPool(format: .i420, dimensions: size, configuration: .init(maximumFreeCount: 4))
        backgrounds = (0..<Self.grainCount).map {
            Self.drawBackground(name: name, dimensions: size, grainSeed: UInt64($0) + 1)
        }
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        SourceFrame(
            content: .picture(makePicture(wallClockMilliseconds: wallClockMilliseconds)),
            duration: .nanoseconds(Int64(clamping: 1e9 / frameRate)))
    }

    /// Draws the next picture.
    public func makePicture(wallClockMilliseconds: Int64) -> PixelBuffer {
        var picture = pool.makeBuffer()
        picture.copy(backgrounds[Int(frameIndex % Int64(backgrounds.count))])
        drawMotion(into: &picture)
        drawClock(wallClockMilliseconds, into: &picture)
        strip?.draw(FrameCounter(wallClockMilliseconds: wallClockMilliseconds, tag: tag), into: &picture)
        frameIndex += 1
        return picture.freeze()
    }

    /// The colour that fills most of a participant's picture, as Y, Cb and Cr: the same in every run.
    public static func colour(of name: String) -> (luma: UInt8, blueDifference: UInt8, redDifference: UInt8) {
        let colour = groundColour(of: name)
        return (colour.luma, colour.blueDifference, colour.redDifference)
    }

    private static func groundColour(of name: String) -> YUVColour {
        let brightness = 0.5 + 0.08 * Double(StableHash.mixed(name) >> 8 % 3)
        return YUVColour(hue: hue(of: name), saturation: 0.65, brightness: brightness)
    }

    /// The hue for a name, in turns of the colour wheel.
    private static func hue(of name: String) -> Double {
        Double(StableHash.mixed(name) >> 40) / Double(1 << 24)
    }

    /// The number of alternating backgrounds.
    private static let grainCount = 4
    /// The largest difference of luma from the colour.
    private static let grainAmplitude = 4

    private static func drawBackground(
        name: String, dimensions: VideoDimensions, grainSeed: UInt64
    ) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        picture.fill(
            x: 0, y: 0, width: dimensions.width, height: dimensions.height, with: groundColour(of: name))
        addGrain(to: &picture, seed: grainSeed)
        // The widest even dot with which the name fills at most three quarters of the width.
        let label = String(name.prefix(24))
        let dots = max(1, BitmapFont.width(of: label, scale: 1))
        let scale = min(max(dimensions.width * 3 / 4 / dots / 2 * 2, 2), max(2, dimensions.height / 40 * 2))
        picture.draw(
            label, x: (dimensions.width - BitmapFont.width(of: label, scale: scale)) / 4 * 2,
            y: (dimensions.height - BitmapFont.glyphHeight * scale) / 4 * 2, scale: scale)
        return picture.freeze()
    }

    /// Adds noise to the luma, around its mean.
    private static func addGrain(to picture: inout MutablePixelBuffer, seed: UInt64) {
        // Xorshift64: a seed other than zero gives the same noise in every run.
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        let span = UInt64(2 * grainAmplitude + 1)
        picture.withMutablePlane(0) { bytes, _ in
            for index in bytes.indices {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                let noise = Int(state >> 33 % span) - grainAmplitude
                bytes[index] = UInt8(clamping: Int(bytes[index]) + noise)
            }
        }
    }

    /// A bar that sweeps across the lower part and a square that bounces above it.
    private func drawMotion(into picture: inout MutablePixelBuffer) {
        let (width, height) = (dimensions.width, dimensions.height)
        let seconds = Double(frameIndex) / frameRate
        let band = max(2, height / 10 / 2 * 2)
        let barWidth = max(2, width / 8 / 2 * 2)
        let barX = Int(seconds * Double(width) / 4) % (width + barWidth) - barWidth
        picture.fill(x: barX / 2 * 2, y: height - band, width: barWidth, height: band, with: accent)
        let side = max(2, height / 8 / 2 * 2)
        let path = max(1, width - side)
        let position = Int(seconds * Double(width) / 3) % (2 * path)
        let x = position < path ? position : 2 * path - position
        let bounce = abs((seconds * 0.7).truncatingRemainder(dividingBy: 2) - 1)
        let y = height - band - side - Int(bounce * Double(height) / 8)
        picture.fill(x: x / 2 * 2, y: y / 2 * 2, width: side, height: side, with: accent)
    }

    private func drawClock(_ wallClockMilliseconds: Int64, into picture: inout MutablePixelBuffer) {
        let day: Int64 = 86_400_000
        let time = ((wallClockMilliseconds % day) + day) % day
        func digits(_ value: Int64, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let text =
            "\(digits(time / 3_600_000, 2)):\(digits(time / 60_000 % 60, 2)):\(digits(time / 1000 % 60, 2))"
            + ".\(digits(time % 1000, 3))"
        let scale = max(2, dimensions.height / 180 * 2)
        let top = (strip?.height ?? 0) + 2 * scale
        picture.draw(text, x: 3 * scale, y: top / 2 * 2, scale: scale, background: .black)
    }
}

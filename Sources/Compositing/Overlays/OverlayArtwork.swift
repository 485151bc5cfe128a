import CPangoCairo
import MediaCore
import PixelTransfer

/// The content of an overlay at a moment and in a size, from which its bitmap is drawn.
enum OverlayArtwork: Hashable, Sendable {
    /// An image, scaled to this size.
    case image(ImageAsset, VideoDimensions)
    /// A line of text on a plate.
    case text(Label)

    /// Draws it; nil if there is nothing to show.
    func render() -> OverlayBitmap? {
        switch self {
        case .text(let label): LabelRenderer.render(label)
        case .image(let image, let size): Self.render(image, size: size)
        }
    }

    private static func render(_ image: ImageAsset, size: VideoDimensions) -> OverlayBitmap? {
        let scaled =
            image.picture.dimensions == size
            ? image.picture
            : BGRACanvas.draw(size) { image.draw(on: $0, covering: PixelRect(size)) }
        return scaled?.withPlane(0) { bytes, stride in
            bytes.baseAddress.map { base in
                // The bitmap only reads the plane.
                OverlayBitmap(
                    premultipliedBGRA: PixelBufferPlane(
                        base: UnsafeMutableRawPointer(mutating: base), stride: stride, rows: size.height),
                    dimensions: size)
            }
        }
    }

    /// The largest additional memory besides its bitmap, in bytes.
    var byteCount: Int {
        switch self {
        case .image: 128
        case .text(let label): label.text.utf8.count + 256
        }
    }
}

/// The time of day as a clock shows it.
enum ClockFace {
    private static let secondsPerDay: Int64 = 24 * 60 * 60

    /// Hours, minutes and seconds.
    ///
    /// - Parameters:
    ///   - wallClock: Unix seconds.
    ///   - utcOffset: The offset in minutes; it is limited to a day.
    static func text(wallClock: Int64, utcOffset: Int) -> String {
        let offset = Int64(utcOffset % (24 * 60)) * 60
        let second = ((wallClock % secondsPerDay + offset) % secondsPerDay + secondsPerDay) % secondsPerDay
        func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
    }
}

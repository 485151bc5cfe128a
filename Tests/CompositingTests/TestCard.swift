import MediaCore
import PixelTransfer

@testable import Compositing

/// A picture by which one sees which source it is, whether something of it was cut off, and whether it was stretched: a
/// number in a circle on a flat colour, in a frame with its corners marked.
enum TestCard {
    static func camera(_ number: Int, _ size: VideoDimensions) -> PixelBuffer {
        let colour = palette[number % palette.count]
        return draw(number, size, paper: colour, ink: .white)
    }

    /// Dark on white, as screen share are.
    static func screenShare(_ number: Int, _ size: VideoDimensions) -> PixelBuffer {
        draw(
            number, size, paper: YCbCrColour(red: 0.95, green: 0.95, blue: 0.9),
            ink: YCbCrColour(red: 0.1, green: 0.1, blue: 0.4))
    }

    private static let palette = [
        (0.75, 0.20, 0.20), (0.15, 0.45, 0.80), (0.20, 0.55, 0.20), (0.60, 0.40, 0.05), (0.50, 0.25, 0.65),
        (0.05, 0.50, 0.55), (0.75, 0.30, 0.55), (0.40, 0.40, 0.40), (0.30, 0.30, 0.75), (0.50, 0.55, 0.10),
    ].map { YCbCrColour(red: $0.0, green: $0.1, blue: $0.2) }

    private static func draw(
        _ number: Int, _ size: VideoDimensions, paper: YCbCrColour, ink: YCbCrColour
    ) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: size)
        let whole = PixelRect(size)
        let frame = 6
        let corner = min(size.width, size.height) / 8 & ~1
        let radius = min(size.width, size.height) * 3 / 8
        picture.withI420Region { region in
            region.fill(whole, with: ink)
            region.fill(
                PixelRect(x: frame, y: frame, width: size.width - 2 * frame, height: size.height - 2 * frame),
                with: paper)
            for (x, y) in [
                (0, 0), (size.width - corner, 0), (0, size.height - corner),
                (size.width - corner, size.height - corner),
            ] {
                region.fill(PixelRect(x: x, y: y, width: corner, height: corner), with: ink)
            }
            for row in stride(from: -radius & ~1, to: radius, by: 2) {
                let half = Int(Double(max(0, radius * radius - row * row)).squareRoot())
                let inner = Int(Double(max(0, (radius - frame) * (radius - frame) - row * row)).squareRoot())
                for (left, right) in [(-half, -inner), (inner, half)] where right > left {
                    let x = (size.width / 2 + left) & ~1
                    region.fill(
                        PixelRect(
                            x: x, y: (size.height / 2 + row) & ~1, width: max(2, (right - left + 1) & ~1), height: 2),
                        with: ink)
                }
            }
            for segment in segments(of: number, height: radius & ~1, centreX: size.width / 2, centreY: size.height / 2)
            {
                region.fill(segment, with: ink)
            }
        }
        return picture.freeze()
    }

    /// Digits of seven bars: no font changes how they look.
    private static func segments(of number: Int, height: Int, centreX: Int, centreY: Int) -> [PixelRect] {
        let digits = String(number).compactMap(\.wholeNumberValue)
        let width = height / 2 & ~1
        let line = max(2, height / 7 & ~1)
        let gap = line
        let half = height / 2 & ~1
        var x = (centreX - (digits.count * width + (digits.count - 1) * gap) / 2) & ~1
        let top = (centreY - half) & ~1
        var rects: [PixelRect] = []
        for digit in digits {
            let bars = [
                PixelRect(x: x, y: top, width: width, height: line),
                PixelRect(x: x + width - line, y: top, width: line, height: half),
                PixelRect(x: x + width - line, y: top + half, width: line, height: half),
                PixelRect(x: x, y: top + 2 * half - line, width: width, height: line),
                PixelRect(x: x, y: top + half, width: line, height: half),
                PixelRect(x: x, y: top, width: line, height: half),
                PixelRect(x: x, y: (top + half - line / 2) & ~1, width: width, height: line),
            ]
            let lit = ["012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356"][digit]
            rects += lit.compactMap(\.wholeNumberValue).map { bars[$0] }
            x += width + gap
        }
        return rects
    }
}

/// Pictures of one height side by side.
func contactSheet(_ pictures: [PixelBuffer]) throws -> PixelBuffer {
    let gap = 8
    let width = pictures.reduce(-gap) { $0 + $1.dimensions.width + gap }
    let height = pictures.map(\.dimensions.height).max() ?? 0
    var sheet = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: width, height: height))
    sheet.withI420Region { region in
        region.fill(PixelRect(region.dimensions), with: YCbCrColour(y: 110, u: 128, v: 128))
        var x = 0
        for picture in pictures {
            let place = PixelRect(x: x, y: 0, width: picture.dimensions.width, height: picture.dimensions.height)
            picture.withPlanes { planes in
                region.part(place).copy(I420Region(planes: planes, dimensions: picture.dimensions))
            }
            x = place.maxX + gap
        }
    }
    return sheet.freeze()
}

import MediaCore

/// The visible part of a picture and its place: the part `crop`, turned upright and scaled, fills `shown`.
struct LayerPlacement: Hashable {
    /// The part of the picture before its rotation; it begins at an even position.
    var crop: PixelRect
    /// The place on the canvas; even. The rest of the layer's rectangle is black.
    var shown: PixelRect

    /// A ratio of sizes that libyuv has fast ways for.
    private struct Ratio {
        var numerator: Int
        var denominator: Int
    }

    /// The ratios in ascending order; the smallest one needs the largest part of a picture.
    private static let fastRatios = [
        Ratio(numerator: 1, denominator: 4), Ratio(numerator: 3, denominator: 8), Ratio(numerator: 1, denominator: 2),
        Ratio(numerator: 3, denominator: 4), Ratio(numerator: 1, denominator: 1),
    ]
    /// The largest additional crop of a side, in percent, that gives a fast scaling ratio. Nine sources of 640x360 in a
    /// 3x3 grid of 1280x720 are cropped to 568x320, by 11.25, and scaled by 3/4. Measured, that composes three times as
    /// fast where libyuv scales (Benchmarks/results.md), and takes three quarters of the time of `PlaneScaling`.
    static let surplusCropLimit = 12

    /// - Parameters:
    ///   - picture: The picture's size before rotation; not empty.
    ///   - samples: The shape in which its samples are shown, before rotation.
    ///   - rotation: The rotation that makes it upright.
    ///   - rect: The layer's place; even, not empty.
    ///   - visible: The part of the place on the canvas.
    init(
        _ picture: VideoDimensions, samples: VideoDimensions = .square, rotation: VideoRotation, fit: LayerFit,
        rect: PixelRect, visible: PixelRect
    ) {
        let (upright, sample) = (rotation.upright(picture), rotation.upright(samples))
        var uprightCrop = PixelRect(upright)
        var shown = rect
        switch fit.mode {
        case .contain:
            shown = rect.fitting(
                VideoDimensions(width: upright.width * sample.width, height: upright.height * sample.height))
        case .cover:
            uprightCrop = Self.crop(of: upright, samples: sample, covering: rect.dimensions, focus: fit.focus)
        }
        let seen = shown.intersection(visible)
        if seen != shown, !seen.isEmpty { uprightCrop = Self.part(seen, of: shown, within: uprightCrop) }
        crop = Self.lying(uprightCrop, in: picture, rotation)
        self.shown = seen
    }

    /// The part of a picture that fills a place of another shape, its middle as near to the focus as can be.
    private static func crop(
        of upright: VideoDimensions, samples: VideoDimensions, covering place: VideoDimensions, focus: FocusPoint
    ) -> PixelRect {
        // The place's shape, counted in samples of the picture.
        let shape = VideoDimensions(width: place.width * samples.height, height: place.height * samples.width)
        var crop = PixelRect(upright).fitting(shape)
        if samples == .square, let fast = fastCrop(place, within: crop.dimensions) {
            (crop.width, crop.height) = (fast.width, fast.height)
        }
        crop.x = position(of: crop.width, within: upright.width, focus: focus.x)
        crop.y = position(of: crop.height, within: upright.height, focus: focus.y)
        return crop
    }

    /// The largest size that scales to a place's by a fast ratio, if it is not much smaller than `needed`.
    private static func fastCrop(_ place: VideoDimensions, within needed: VideoDimensions) -> VideoDimensions? {
        for ratio in fastRatios {
            let (width, widthRest) = (place.width * ratio.denominator).quotientAndRemainder(dividingBy: ratio.numerator)
            let (height, heightRest) = (place.height * ratio.denominator)
                .quotientAndRemainder(dividingBy: ratio.numerator)
            guard widthRest == 0, heightRest == 0, width <= needed.width, height <= needed.height else { continue }
            guard width * 100 >= needed.width * (100 - surplusCropLimit),
                height * 100 >= needed.height * (100 - surplusCropLimit)
            else { return nil }
            return VideoDimensions(width: width, height: height)
        }
        return nil
    }

    /// The start of a part of a side whose centre is nearest to `focus`, a fraction of the side; even.
    private static func position(of part: Int, within side: Int, focus: Double) -> Int {
        let focus = focus > 0 ? min(focus, 1) : 0
        let start = (Double(side) * focus - Double(part) / 2) / 2
        // If two starts are equally near, the first one.
        return min(max(0, Int((start - 0.5).rounded(.up)) * 2), (side - part) & ~1)
    }

    /// The part of `crop` that appears in `seen`, a part of the place of all of `crop`; rounded to chroma samples.
    private static func part(_ seen: PixelRect, of shown: PixelRect, within crop: PixelRect) -> PixelRect {
        func span(_ offset: Int, _ length: Int, of whole: Int, _ size: Int) -> (offset: Int, length: Int) {
            let start = min(offset * size / whole, size - 1) & ~1
            let end = min(size, max(start + 2, (offset + length) * size / whole & ~1))
            return (start, end - start)
        }
        let columns = span(seen.x - shown.x, seen.width, of: shown.width, crop.width)
        let rows = span(seen.y - shown.y, seen.height, of: shown.height, crop.height)
        return PixelRect(
            x: crop.x + columns.offset, y: crop.y + rows.offset, width: columns.length, height: rows.length)
    }

    /// Converts a rectangle of the upright picture to the picture before its rotation.
    private static func lying(_ rect: PixelRect, in picture: VideoDimensions, _ rotation: VideoRotation) -> PixelRect {
        switch rotation {
        case .none:
            rect
        case .clockwise90:
            PixelRect(
                x: rect.y, y: (picture.height - rect.maxX) & ~1, width: rect.height, height: rect.width)
        case .rotate180:
            PixelRect(
                x: (picture.width - rect.maxX) & ~1, y: (picture.height - rect.maxY) & ~1, width: rect.width,
                height: rect.height)
        case .clockwise270:
            PixelRect(
                x: (picture.width - rect.maxY) & ~1, y: rect.x, width: rect.height, height: rect.width)
        }
    }
}

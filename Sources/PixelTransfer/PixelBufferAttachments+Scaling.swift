import MediaCore

extension PixelBufferAttachments {
    /// Returns the attachments of a stretched picture: the clean aperture keeps its place, and the shown picture its
    /// shape.
    func scaled(from old: VideoDimensions, to new: VideoDimensions) -> PixelBufferAttachments {
        guard old != new else { return self }
        var result = self
        if let aperture = cleanAperture {
            let horizontal = Self.scale(aperture.x, aperture.width, from: old.width, to: new.width)
            let vertical = Self.scale(aperture.y, aperture.height, from: old.height, to: new.height)
            result.cleanAperture = PixelRect(
                x: horizontal.lowerBound, y: vertical.lowerBound, width: horizontal.count, height: vertical.count)
        }
        result.pixelAspectRatio = pixelAspectRatio.stretched(from: old, to: new)
        return result
    }

    /// The samples nearest to `count` of them from `start`, that lie within the new size: at least one.
    private static func scale(_ start: Int, _ count: Int, from old: Int, to new: Int) -> Range<Int> {
        let lower = Double(min(max(start, 0), old)) * Double(new) / Double(old)
        let (end, overflow) = start.addingReportingOverflow(count)
        let upper = Double(overflow ? old : min(max(end, 0), old)) * Double(new) / Double(old)
        let first = min(Int(lower.rounded()), new - 1)
        return first..<max(Int(upper.rounded()), first + 1)
    }
}

extension VideoDimensions {
    /// The shape of a sample, in lowest terms that an SPS can hold, after `old` samples became `new` ones; the same if
    /// it was none.
    fileprivate func stretched(from old: VideoDimensions, to new: VideoDimensions) -> VideoDimensions {
        guard width > 0, height > 0 else { return self }
        let (across, overflowsAcross) = width.multipliedReportingOverflow(by: old.width * new.height)
        let (down, overflowsDown) = height.multipliedReportingOverflow(by: old.height * new.width)
        guard !overflowsAcross, !overflowsDown else { return self }
        let divisor = greatestCommonDivisor(across, down)
        let (width, height) = (across / divisor, down / divisor)
        // An SPS has 16 bits for each (H.264 E.2.1).
        let excess = 1 + (max(width, height) >> 16)
        return VideoDimensions(width: max(width / excess, 1), height: max(height / excess, 1))
    }
}

import MediaCore

extension MutablePixelBuffer {
    /// Fills a rectangle of an I420 picture. Parts outside are left out; the rectangle's edges should be even.
    mutating func fill(x: Int, y: Int, width: Int, height: Int, with colour: YUVColour) {
        let size = dimensions
        let columns = max(0, x)..<max(max(0, x), min(size.width, x + width))
        let rows = max(0, y)..<max(max(0, y), min(size.height, y + height))
        guard format == .i420, !columns.isEmpty, !rows.isEmpty else { return }
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let value = [colour.luma, colour.blueDifference, colour.redDifference][plane]
            let planeColumns = columns.lowerBound >> shift..<(columns.upperBound + shift) >> shift
            let planeRows = rows.lowerBound >> shift..<(rows.upperBound + shift) >> shift
            withMutablePlane(plane) { bytes, stride in
                for row in planeRows {
                    let start = row * stride
                    let line = bytes[(start + planeColumns.lowerBound)..<(start + planeColumns.upperBound)]
                    UnsafeMutableRawBufferPointer(rebasing: line).initializeMemory(as: UInt8.self, repeating: value)
                }
            }
        }
    }

    /// Copies a picture of the same format and size.
    mutating func copy(_ picture: PixelBuffer) {
        guard picture.format == format, picture.dimensions == dimensions else { return }
        for plane in 0..<picture.planeCount {
            let (rowBytes, rows) = format.planeSize(plane, of: dimensions)
            picture.withPlane(plane) { source, sourceStride in
                withMutablePlane(plane) { target, stride in
                    for row in 0..<rows {
                        UnsafeMutableRawBufferPointer(rebasing: target[(row * stride)..<(row * stride + rowBytes)])
                            .copyMemory(
                                from: UnsafeRawBufferPointer(
                                    rebasing: source[(row * sourceStride)..<(row * sourceStride + rowBytes)]))
                    }
                }
            }
        }
    }

    /// Writes a line of white text in the built-in font.
    ///
    /// - Parameters:
    ///   - scale: Luma samples a dot of the 5x7 font is wide; an even number keeps chroma whole.
    ///   - background: Fills the text's box first where given.
    mutating func draw(_ text: String, x: Int, y: Int, scale: Int, background: YUVColour? = nil) {
        if let background {
            let margin = scale
            fill(
                x: x - margin, y: y - margin, width: BitmapFont.width(of: text, scale: scale) + 2 * margin,
                height: BitmapFont.glyphHeight * scale + 2 * margin, with: background)
        }
        var left = x
        for character in text {
            for (row, bits) in BitmapFont.rows(of: character).enumerated() {
                for column in 0..<BitmapFont.glyphWidth where bits >> (BitmapFont.glyphWidth - 1 - column) & 1 == 1 {
                    fill(
                        x: left + column * scale, y: y + row * scale, width: scale, height: scale, with: .white)
                }
            }
            left += BitmapFont.advance * scale
        }
    }
}

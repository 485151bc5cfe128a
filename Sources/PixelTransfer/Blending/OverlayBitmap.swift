import CLibYUV
public import MediaCore

/// A small picture with transparency, ready to be blended onto 4:2:0 pictures at any position: a label, an icon, a
/// logo.
///
/// It is converted once, when it is made, and holds the data for blending: luma and alpha in full resolution, colour
/// (BT.601 in limited range, not multiplied by alpha) for each position on the chroma samples. A sample takes 5 bytes.
public struct OverlayBitmap: Sendable {
    public let mask: AlphaMask
    let luma: BytePlane
    let u: ChromaPhases
    let v: ChromaPhases

    public var dimensions: VideoDimensions { mask.dimensions }

    /// Takes a picture of blue, green, red and alpha bytes, colours multiplied by alpha, as drawing libraries make
    /// them.
    ///
    /// - Parameters:
    ///   - plane: The picture's rows, which are read only.
    ///   - dimensions: From 1 to 32767 samples a side, no more than `plane` holds.
    public init(premultipliedBGRA plane: PixelBufferPlane, dimensions: VideoDimensions) {
        let (width, height) = (dimensions.width, dimensions.height)
        precondition((1...PictureView.maximumSide).contains(width) && (1...PictureView.maximumSide).contains(height))
        precondition(plane.stride >= 4 * width && plane.rows >= height, "a plane as large as the picture")
        let source = plane.base.assumingMemoryBound(to: UInt8.self)
        let (columns, rows) = (Int32(width), Int32(height))
        var straight = [UInt8](repeating: 0, count: 4 * width * height)
        ARGBUnattenuate(source, Int32(plane.stride), &straight, columns * 4, columns, rows)
        var alpha = [UInt8](repeating: 0, count: width * height)
        ARGBExtractAlpha(source, Int32(plane.stride), &alpha, columns, columns, rows)
        var (y, u, v) = (alpha, alpha, alpha)
        ARGBToI444(straight, columns * 4, &y, columns, &u, columns, &v, columns, columns, rows)

        let mask = BytePlane(width: width, height: height, bytes: alpha)
        self.mask = AlphaMask(mask)
        luma = BytePlane(width: width, height: height, bytes: y)
        self.u = Self.chroma(BytePlane(width: width, height: height, bytes: u), weights: mask)
        self.v = Self.chroma(BytePlane(width: width, height: height, bytes: v), weights: mask)
    }

    /// Means weighted by alpha, so that invisible samples have no effect on the colour.
    private static func chroma(_ plane: BytePlane, weights: BytePlane) -> ChromaPhases {
        ChromaPhases { column, row in
            let size = ChromaPhases.size(width: plane.width, height: plane.height, column: column, row: row)
            return BytePlane(width: size.width, height: size.height) { x, y in
                var (sum, weight) = (0, 0)
                for sampleY in plane.rows(ofChromaRow: y, phase: row) {
                    for sampleX in plane.columns(ofChromaColumn: x, phase: column) {
                        sum += Int(plane[sampleX, sampleY]) * Int(weights[sampleX, sampleY])
                        weight += Int(weights[sampleX, sampleY])
                    }
                }
                return weight == 0 ? 128 : UInt8(truncatingIfNeeded: (sum + weight / 2) / weight)
            }
        }
    }

    /// The memory that it takes.
    public var byteCount: Int { mask.byteCount + luma.bytes.count + u.byteCount + v.byteCount }
}

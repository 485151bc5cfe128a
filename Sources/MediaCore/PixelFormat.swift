/// The memory layout of a picture.
public enum PixelFormat: Hashable, Sendable {
    /// Planar 8-bit 4:2:0: Y, U and V planes.
    case i420
    /// Bi-planar 8-bit 4:2:0: a Y plane and one of interleaved U and V.
    case nv12
    /// One plane of 8-bit blue, green, red and alpha.
    case bgra

    public var planeCount: Int {
        switch self {
        case .i420: 3
        case .nv12: 2
        case .bgra: 1
        }
    }

    /// Bytes in a row and the number of rows of plane `index` of a picture of `dimensions`; chroma rounds up.
    public func planeSize(_ index: Int, of dimensions: VideoDimensions) -> (rowBytes: Int, rows: Int) {
        let (width, height) = (dimensions.width, dimensions.height)
        return switch (self, index) {
        case (.i420, 0), (.nv12, 0): (width, height)
        case (.i420, _): ((width + 1) / 2, (height + 1) / 2)
        case (.nv12, _): ((width + 1) / 2 * 2, (height + 1) / 2)
        case (.bgra, _): (width * 4, height)
        }
    }
}

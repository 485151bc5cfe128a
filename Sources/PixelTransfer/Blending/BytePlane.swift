/// Bytes in rows without gaps: a plane of a small bitmap.
struct BytePlane: Sendable {
    let width: Int
    let height: Int
    let bytes: [UInt8]

    init(width: Int, height: Int, bytes: [UInt8]) {
        precondition(bytes.count == width * height, "a byte for each sample")
        self.width = width
        self.height = height
        self.bytes = bytes
    }

    init(width: Int, height: Int, _ sample: (_ x: Int, _ y: Int) -> UInt8) {
        self.width = width
        self.height = height
        bytes = [UInt8](unsafeUninitializedCapacity: width * height) { buffer, count in
            for y in 0..<height {
                for x in 0..<width { buffer.initializeElement(at: y * width + x, to: sample(x, y)) }
            }
            count = width * height
        }
    }

    subscript(x: Int, y: Int) -> UInt8 { bytes[y * width + x] }
}

/// The chroma planes of a bitmap for each of the four positions of its first sample in a chroma sample.
///
/// A bitmap at an odd column has its first column in the right half of a chroma sample, so other pairs of columns form
/// chroma samples than at an even one; likewise with rows.
struct ChromaPhases: Sendable {
    private let planes: [BytePlane]

    /// - Parameter make: Makes the plane of a phase: how many columns and rows, 0 or 1, of the first chroma sample lie
    ///   left of and above the bitmap.
    init(_ make: (_ column: Int, _ row: Int) -> BytePlane) {
        planes = [make(0, 0), make(1, 0), make(0, 1), make(1, 1)]
    }

    /// The plane for a bitmap whose first sample is at this position of the picture.
    func plane(x: Int, y: Int) -> BytePlane { planes[(x & 1) + 2 * (y & 1)] }

    /// The size of a chroma plane of a bitmap of this size, of a phase.
    static func size(width: Int, height: Int, column: Int, row: Int) -> (width: Int, height: Int) {
        ((width + column + 1) / 2, (height + row + 1) / 2)
    }

    var byteCount: Int { planes.reduce(0) { $0 + $1.bytes.count } }
}

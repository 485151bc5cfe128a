public import MediaCore

/// The coverage of each sample, from 0 to 255: the shape of a layer that is blended onto a picture.
///
/// The coverage of a chroma sample is the mean of its four luma samples', so that an edge through a chroma sample, as
/// at every odd position, has the right colour too.
public struct AlphaMask: Sendable {
    public let dimensions: VideoDimensions
    let luma: BytePlane
    let chroma: ChromaPhases

    /// Makes a mask of at least one sample.
    ///
    /// - Parameter coverage: The coverage of each sample.
    public init(dimensions: VideoDimensions, coverage: (_ x: Int, _ y: Int) -> UInt8) {
        precondition(dimensions.width > 0 && dimensions.height > 0, "a mask has at least one sample")
        self.init(BytePlane(width: dimensions.width, height: dimensions.height, coverage))
    }

    init(_ plane: BytePlane) {
        dimensions = VideoDimensions(width: plane.width, height: plane.height)
        luma = plane
        chroma = ChromaPhases { column, row in
            let size = ChromaPhases.size(width: plane.width, height: plane.height, column: column, row: row)
            return BytePlane(width: size.width, height: size.height) { x, y in
                var sum = 2
                for sampleY in plane.rows(ofChromaRow: y, phase: row) {
                    for sampleX in plane.columns(ofChromaColumn: x, phase: column) {
                        sum += Int(plane[sampleX, sampleY])
                    }
                }
                return UInt8(truncatingIfNeeded: sum / 4)
            }
        }
    }

    /// The memory that it takes.
    var byteCount: Int { luma.bytes.count + chroma.byteCount }
}

extension BytePlane {
    /// Returns the columns of the plane, one or two, that lie in a column of chroma samples.
    func columns(ofChromaColumn index: Int, phase: Int) -> Range<Int> {
        max(0, 2 * index - phase)..<min(width, 2 * index - phase + 2)
    }

    /// Returns the rows of the plane, one or two, that lie in a row of chroma samples.
    func rows(ofChromaRow index: Int, phase: Int) -> Range<Int> {
        max(0, 2 * index - phase)..<min(height, 2 * index - phase + 2)
    }
}

/// The requirements for pictures.
///
/// A decoder hands out its own memory if that satisfies them, and converts every picture if it does not. So require no
/// more than is needed: `.any` costs nothing.
public struct PixelBufferAttributes: Hashable, Sendable {
    /// The acceptable formats, the best one first; empty for any.
    public var formats: [PixelFormat]
    /// The size in luma samples; nil for any.
    public var dimensions: VideoDimensions?
    /// Each plane's first byte and stride are a multiple of this many bytes; a power of two.
    public var rowAlignment: Int

    public init(formats: [PixelFormat] = [], dimensions: VideoDimensions? = nil, rowAlignment: Int = 1) {
        precondition(rowAlignment > 0 && rowAlignment & (rowAlignment - 1) == 0, "an alignment is a power of two")
        self.formats = formats
        self.dimensions = dimensions
        self.rowAlignment = rowAlignment
    }

    /// No requirements.
    public static let any = PixelBufferAttributes()

    /// Returns true if a picture satisfies the requirements.
    public func isSatisfied(by picture: PixelBuffer) -> Bool {
        guard formats.isEmpty || formats.contains(picture.format) else { return false }
        guard dimensions == nil || dimensions == picture.dimensions else { return false }
        guard rowAlignment > 1 else { return true }
        return picture.withPlanes { planes in
            planes.allSatisfy {
                $0.stride.isMultiple(of: rowAlignment) && UInt(bitPattern: $0.base).isMultiple(of: UInt(rowAlignment))
            }
        }
    }
}

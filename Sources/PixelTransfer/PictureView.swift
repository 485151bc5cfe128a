import MediaCore

/// A picture's planes in the way in which libyuv takes them, to read or write. Valid only while the planes are.
struct PictureView {
    let format: PixelFormat
    let dimensions: VideoDimensions
    private let planes: PixelBufferPlanes

    /// The largest width and height: libyuv counts positions in 16.16 fixed point.
    static let maximumSide = Int(Int16.max)

    init(planes: PixelBufferPlanes, format: PixelFormat, dimensions: VideoDimensions) throws(PixelTransferError) {
        try Self.check(dimensions)
        for plane in planes {
            guard Int32(exactly: plane.stride) != nil else { throw .unsupportedStride(plane.stride) }
        }
        self.planes = planes
        self.format = format
        self.dimensions = dimensions
    }

    static func check(_ dimensions: VideoDimensions) throws(PixelTransferError) {
        guard (1...maximumSide).contains(dimensions.width), (1...maximumSide).contains(dimensions.height) else {
            throw .unsupportedDimensions(dimensions)
        }
    }

    var width: Int32 { Int32(clamping: dimensions.width) }
    var height: Int32 { Int32(clamping: dimensions.height) }
    var chromaWidth: Int32 { (width + 1) / 2 }
    var chromaHeight: Int32 { (height + 1) / 2 }

    func bytes(_ plane: Int) -> UnsafeMutablePointer<UInt8> {
        planes[plane].base.assumingMemoryBound(to: UInt8.self)
    }

    func stride(_ plane: Int) -> Int32 { Int32(clamping: planes[plane].stride) }
}

extension PixelBuffer {
    /// Calls `body` with the picture to read.
    func withView<Result>(
        _ body: (_ view: PictureView) throws(PixelTransferError) -> Result
    ) throws(PixelTransferError) -> Result {
        try withPlanes { planes throws(PixelTransferError) in
            try body(PictureView(planes: planes, format: format, dimensions: dimensions))
        }
    }
}

extension MutablePixelBuffer {
    /// Calls `body` with the picture to write.
    mutating func withMutableView<Result>(
        _ body: (_ view: PictureView) throws(PixelTransferError) -> Result
    ) throws(PixelTransferError) -> Result {
        let (format, dimensions) = (format, dimensions)
        return try withMutablePlanes { planes throws(PixelTransferError) in
            try body(PictureView(planes: planes, format: format, dimensions: dimensions))
        }
    }
}

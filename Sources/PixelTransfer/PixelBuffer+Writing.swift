public import MediaCore

extension PixelBuffer {
    /// Writes the samples into memory of another owner that has room for this size: 4:2:0 in either layout, or BGRA as
    /// it is.
    public func write(to planes: PixelBufferPlanes, as format: PixelFormat) throws(PixelTransferError) {
        precondition((self.format == .bgra) == (format == .bgra), "no colour is converted")
        let target = try PictureView(planes: planes, format: format, dimensions: dimensions)
        try withView { source throws(PixelTransferError) in try target.convert(source, encoding: nil) }
    }
}

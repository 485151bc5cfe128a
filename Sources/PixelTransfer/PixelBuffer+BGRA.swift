public import MediaCore

extension PixelBuffer {
    /// Writes the picture as BGRA into `plane`, which has the picture's size: a surface of a drawing library, for
    /// example.
    ///
    /// YCbCr is converted by the colour attachment, or as BT.601 in limited range if that is unspecified.
    public func writeBGRA(to plane: PixelBufferPlane) throws(PixelTransferError) {
        let (rowBytes, rows) = PixelFormat.bgra.planeSize(0, of: dimensions)
        precondition(plane.stride >= rowBytes && plane.rows >= rows, "a plane as large as the picture")
        let encoding = format == .bgra ? nil : try ColourEncoding(attachments.colour)
        let target = try PictureView(planes: PixelBufferPlanes(plane), format: .bgra, dimensions: dimensions)
        try withView { source throws(PixelTransferError) in try target.convert(source, encoding: encoding) }
    }
}

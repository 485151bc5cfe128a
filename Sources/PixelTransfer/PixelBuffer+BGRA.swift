public import MediaCore

extension PixelBuffer {
    /// Writes the picture as BGRA into `plane`, which is as large as the picture: a surface of a drawing library, say.
    ///
    /// YCbCr is taken as the colour attachment says, as BT.601 in limited range where that says nothing.
    public func writeBGRA(to plane: PixelBufferPlane) throws(PixelTransferError) {
        let (rowBytes, rows) = PixelFormat.bgra.planeSize(0, of: dimensions)
        precondition(plane.stride >= rowBytes && plane.rows >= rows, "a plane as large as the picture")
        let encoding = format == .bgra ? nil : try ColourEncoding(attachments.colour)
        let target = try PictureView(planes: PixelBufferPlanes(plane), format: .bgra, dimensions: dimensions)
        try withView { source throws(PixelTransferError) in try target.convert(source, encoding: encoding) }
    }
}

import CPangoCairo
public import MediaCore
public import PixelTransfer

/// The reason for which a picture was not written as a PNG file.
public enum PNGError: Error, Hashable {
    /// The picture is larger than cairo's 32767 samples a side, or there is no memory for it.
    case unsupportedSize(VideoDimensions, reason: String)
    /// The picture's colours could not be converted.
    case cannotConvert(PixelTransferError)
    /// The file could not be written.
    case cannotWrite(path: String, reason: String)
}

extension PNGError: CustomStringConvertible {
    public var description: String {
        guard case .cannotWrite(let path, _) = self else { return reason }
        return "\(path) cannot be written: \(reason)"
    }

    /// The description without the file's path.
    public var reason: String {
        switch self {
        case .unsupportedSize(let dimensions, let reason):
            "a picture of \(dimensions) cannot be made a PNG (\(reason)); scale it to at most 32767 samples a side"
        case .cannotConvert(let error):
            error.description
        case .cannotWrite(_, let reason):
            "\(reason); check that the folder exists, may be written and has room"
        }
    }
}

extension PixelBuffer {
    /// Writes the picture as a PNG file. YCbCr is converted by its colour attachment, or as BT.601 in limited range if
    /// that is unspecified. It waits for the disk.
    public func writePNG(to path: String) throws(PNGError) {
        let (width, height) = (Int32(clamping: dimensions.width), Int32(clamping: dimensions.height))
        let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)
        defer { cairo_surface_destroy(surface) }
        guard let pixels = cairo_image_surface_get_data(surface) else {
            throw .unsupportedSize(
                dimensions,
                reason: String(
                    cString: cairo_status_to_string(
                        cairo_surface_status(surface))))
        }
        cairo_surface_flush(surface)
        do throws(PixelTransferError) {
            try writeBGRA(
                to: PixelBufferPlane(
                    base: UnsafeMutableRawPointer(pixels), stride: Int(cairo_image_surface_get_stride(surface)),
                    rows: dimensions.height))
        } catch {
            throw .cannotConvert(error)
        }
        cairo_surface_mark_dirty(surface)
        let status = cairo_surface_write_to_png(surface, path)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .cannotWrite(path: path, reason: String(cString: cairo_status_to_string(status)))
        }
    }
}

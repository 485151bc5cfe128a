import CLibYUV
import CPangoCairo
public import MediaCore

/// Why a picture was not written as a PNG file.
public enum PNGError: Error, Hashable {
    /// The picture is larger than cairo's 32767 samples a side, or there is no memory for it.
    case unsupportedSize(VideoDimensions, reason: String)
    /// The file could not be written.
    case cannotWrite(path: String, reason: String)
}

extension PNGError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedSize(let dimensions, let reason):
            "a picture of \(dimensions) cannot be made a PNG (\(reason)); scale it to at most 32767 samples a side"
        case .cannotWrite(let path, let reason):
            "\(path) cannot be written: \(reason); check that the folder exists, may be written and has room"
        }
    }
}

extension PixelBuffer {
    /// Writes the picture as a PNG file; YCbCr is taken as BT.601 in limited range. Waits for the disk.
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
        let stride = cairo_image_surface_get_stride(surface)
        cairo_surface_flush(surface)
        withPlanes { planes in
            let bytes = planes.map { $0.base.assumingMemoryBound(to: UInt8.self) }
            let strides = planes.map { Int32($0.stride) }
            switch format {
            case .i420:
                I420ToARGB(
                    bytes[0], strides[0], bytes[1], strides[1], bytes[2], strides[2], pixels, stride, width, height)
            case .nv12:
                NV12ToARGB(bytes[0], strides[0], bytes[1], strides[1], pixels, stride, width, height)
            case .bgra:
                ARGBCopy(bytes[0], strides[0], pixels, stride, width, height)
            }
        }
        cairo_surface_mark_dirty(surface)
        let status = cairo_surface_write_to_png(surface, path)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw .cannotWrite(path: path, reason: String(cString: cairo_status_to_string(status)))
        }
    }
}

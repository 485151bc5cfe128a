import CPangoCairo
import Glibc
import MediaCore

/// A picture in BGRA that cairo draws.
enum BGRACanvas {
    /// A transparent picture with the drawing of `body`; nil if cairo has no memory.
    static func draw(_ size: VideoDimensions, _ body: (_ context: OpaquePointer?) -> Void) -> PixelBuffer? {
        var picture = MutablePixelBuffer(format: .bgra, dimensions: size)
        let isDrawn = picture.withMutablePlane(0) { bytes, stride in
            guard let base = bytes.baseAddress else { return false }
            memset(base, 0, bytes.count)
            // The planes of a picture begin and continue at multiples of 64 bytes: more than cairo asks for.
            let surface = cairo_image_surface_create_for_data(
                base.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(clamping: size.width),
                Int32(clamping: size.height), Int32(clamping: stride))
            defer { cairo_surface_destroy(surface) }
            let context = cairo_create(surface)
            body(context)
            let status = cairo_status(context)
            cairo_destroy(context)
            // From here on cairo must not refer to the picture's memory.
            cairo_surface_finish(surface)
            return status == CAIRO_STATUS_SUCCESS
        }
        return isDrawn ? picture.freeze() : nil
    }
}

import CLibAVCodec
import MediaCore

/// One decoded frame in libavcodec's memory.
///
/// Unchecked because the pointer is not `Sendable`: `FrameFreeList` fills and clears the frame only while nobody holds
/// a picture of it, pictures are only read, this class alone frees it, and libavutil counts references to its memory
/// atomically.
final class LibAVFrame: @unchecked Sendable {
    private let frame: UnsafeMutablePointer<AVFrame>

    /// An empty frame; nil when there is no memory.
    init?() {
        guard let allocated = av_frame_alloc() else { return nil }
        frame = allocated
    }

    deinit {
        var last: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&last)
    }

    /// Takes the next frame out of a decoder; false when it has none.
    func receive(from context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        avcodec_receive_frame(context, frame) == 0
    }

    /// Gives the memory back to libavcodec.
    func clear() {
        av_frame_unref(frame)
    }

    /// The number of the frame's packet.
    var serial: Int64 { frame.pointee.pts }

    var damage: PictureDamage {
        var damage: PictureDamage = []
        let errors = frame.pointee.decode_error_flags
        if errors & ~FF_DECODE_ERROR_MISSING_REFERENCE != 0 { damage.insert(.concealed) }
        if errors & FF_DECODE_ERROR_MISSING_REFERENCE != 0 { damage.insert(.missingReference) }
        if frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 { damage.insert(.corrupt) }
        return damage
    }

    var dimensions: VideoDimensions {
        VideoDimensions(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
    }

    /// The planes; nil unless the frame is 8-bit 4:2:0.
    var planes: PixelBufferPlanes? {
        let format = frame.pointee.format
        let dimensions = dimensions
        guard format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue,
            dimensions.width > 0, dimensions.height > 0,
            let luma = plane(frame.pointee.data.0, frame.pointee.linesize.0, 0, dimensions),
            let blue = plane(frame.pointee.data.1, frame.pointee.linesize.1, 1, dimensions),
            let red = plane(frame.pointee.data.2, frame.pointee.linesize.2, 2, dimensions)
        else { return nil }
        return PixelBufferPlanes(luma, blue, red)
    }

    private func plane(
        _ base: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ index: Int, _ dimensions: VideoDimensions
    ) -> PixelBufferPlane? {
        let (rowBytes, rows) = PixelFormat.i420.planeSize(index, of: dimensions)
        guard let base, Int(stride) >= rowBytes else { return nil }
        return PixelBufferPlane(base: UnsafeMutableRawPointer(base), stride: Int(stride), rows: rows)
    }
}

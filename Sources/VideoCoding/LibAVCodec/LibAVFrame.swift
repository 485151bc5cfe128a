import CLibAVCodec
import MediaCore

/// A reference to one decoded frame in libavcodec's memory.
///
/// Unchecked because the pointer is not `Sendable`: the frame is only read once it is filled, this class alone frees it,
/// and libavutil counts references to its memory atomically.
final class LibAVFrame: @unchecked Sendable {
    private let frame: UnsafeMutablePointer<AVFrame>

    /// Takes the next frame out of a decoder; nil when it has none, or no memory.
    init?(receivingFrom context: UnsafeMutablePointer<AVCodecContext>) {
        guard let allocated = av_frame_alloc() else { return nil }
        guard avcodec_receive_frame(context, allocated) == 0 else {
            var unused: UnsafeMutablePointer<AVFrame>? = allocated
            av_frame_free(&unused)
            return nil
        }
        frame = allocated
    }

    deinit {
        var last: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&last)
    }

    /// What the packet was numbered that the frame came from.
    var serial: Int64 { frame.pointee.pts }

    var isConcealed: Bool {
        frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || frame.pointee.decode_error_flags != 0
    }

    /// The frame as a picture, without a copy: the memory goes back to libavcodec when the last holder of the picture
    /// lets go. Nil unless the frame is 8-bit 4:2:0.
    func makePixelBuffer() -> PixelBuffer? {
        let format = frame.pointee.format
        let dimensions = VideoDimensions(width: Int(frame.pointee.width), height: Int(frame.pointee.height))
        guard format == AV_PIX_FMT_YUV420P.rawValue || format == AV_PIX_FMT_YUVJ420P.rawValue,
            dimensions.width > 0, dimensions.height > 0,
            let luma = plane(frame.pointee.data.0, frame.pointee.linesize.0, 0, dimensions),
            let blue = plane(frame.pointee.data.1, frame.pointee.linesize.1, 1, dimensions),
            let red = plane(frame.pointee.data.2, frame.pointee.linesize.2, 2, dimensions)
        else { return nil }
        return PixelBuffer(
            wrapping: PixelBufferPlanes(luma, blue, red), format: .i420, dimensions: dimensions,
            release: { extendLifetime(self) })
    }

    private func plane(
        _ base: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ index: Int, _ dimensions: VideoDimensions
    ) -> PixelBufferPlane? {
        let (rowBytes, rows) = PixelFormat.i420.planeSize(index, of: dimensions)
        guard let base, Int(stride) >= rowBytes else { return nil }
        return PixelBufferPlane(base: UnsafeMutableRawPointer(base), stride: Int(stride), rows: rows)
    }
}

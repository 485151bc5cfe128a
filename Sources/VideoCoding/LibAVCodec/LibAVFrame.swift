import CLibAVCodec
import MediaCore

/// One decoded frame in libavcodec's memory.
///
/// Unchecked because the pointers are not `Sendable`: `FrameFreeList` fills, maps and clears the frame only while
/// nobody holds a picture of it, pictures are only read, this class alone frees it, and libavutil counts references to
/// its memory atomically.
final class LibAVFrame: @unchecked Sendable {
    private let frame: UnsafeMutablePointer<AVFrame>
    /// The samples in memory, of a frame that is on a device; nil until the first.
    private var mapping: UnsafeMutablePointer<AVFrame>?

    /// An empty frame; nil when there is no memory.
    init?() {
        guard let allocated = av_frame_alloc() else { return nil }
        frame = allocated
    }

    deinit {
        av_frame_free(&mapping)
        var last: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&last)
    }

    /// Takes the next frame out of a decoder; false when it has none.
    func receive(from context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        avcodec_receive_frame(context, frame) == 0
    }

    /// Gives the memory back to libavcodec.
    func clear() {
        if let mapping { av_frame_unref(mapping) }
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
        // Of frames on a device, libavcodec crops the right and the bottom alone.
        VideoDimensions(
            width: Int(frame.pointee.width) - cropping.left, height: Int(frame.pointee.height) - cropping.top)
    }

    private var cropping: (left: Int, top: Int) {
        isOnDevice ? (Int(clamping: frame.pointee.crop_left), Int(clamping: frame.pointee.crop_top)) : (0, 0)
    }

    /// True if a device has the samples.
    var isOnDevice: Bool { frame.pointee.format == AV_PIX_FMT_VAAPI.rawValue }

    /// The number of a device's surface, if one has all of the frame from its first sample on.
    var surface: UInt32? {
        guard isOnDevice, cropping == (0, 0), dimensions.width > 0, dimensions.height > 0 else { return nil }
        return UInt32(exactly: UInt(bitPattern: frame.pointee.data.3))
    }

    /// The owner of the device's surfaces.
    var surfaceOwner: UnsafeMutablePointer<AVBufferRef>? { frame.pointee.hw_frames_ctx }

    /// The format and the planes; nil unless the frame is 8-bit 4:2:0. Those of a frame on a device are read from
    /// there.
    func readPlanes() -> (format: PixelFormat, planes: PixelBufferPlanes)? {
        if isOnDevice { return devicePlanes().map { (.nv12, $0) } }
        return planes.map { (.i420, $0) }
    }

    private func devicePlanes() -> PixelBufferPlanes? {
        let (dimensions, cropping) = (dimensions, cropping)
        if mapping == nil { mapping = av_frame_alloc() }
        guard let mapping, dimensions.width > 0, dimensions.height > 0 else { return nil }
        mapping.pointee.format = AV_PIX_FMT_NV12.rawValue
        guard av_hwframe_map(mapping, frame, Int32(AV_HWFRAME_MAP_READ)) == 0 else { return nil }
        let (width, height) = (Int(mapping.pointee.width), Int(mapping.pointee.height))
        let (lumaStride, chromaStride) = (Int(mapping.pointee.linesize.0), Int(mapping.pointee.linesize.1))
        guard width >= cropping.left + dimensions.width, height >= cropping.top + dimensions.height,
            lumaStride >= width, chromaStride >= (width + 1) / 2 * 2,
            let luma = mapping.pointee.data.0, let chroma = mapping.pointee.data.1
        else { return nil }
        // Chroma has half as many rows, and pairs of samples.
        return PixelBufferPlanes(
            PixelBufferPlane(
                base: UnsafeMutableRawPointer(luma) + cropping.top * lumaStride + cropping.left, stride: lumaStride,
                rows: dimensions.height),
            PixelBufferPlane(
                base: UnsafeMutableRawPointer(chroma) + cropping.top / 2 * chromaStride + cropping.left / 2 * 2,
                stride: chromaStride, rows: (dimensions.height + 1) / 2))
    }

    /// The planes; nil unless the frame is 8-bit 4:2:0.
    private var planes: PixelBufferPlanes? {
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

import CLibAVFormat
import MediaCore

/// Makes pictures of libavcodec's frames: as they are where they are 8-bit 4:2:0 of a fitting size with square samples,
/// and converted by libswscale otherwise.
struct PictureScaler: ~Copyable {
    private struct Form: Equatable {
        var format: Int32
        var width: Int32
        var height: Int32
        var target: VideoDimensions
    }

    private var form: Form?
    private var context: OpaquePointer?
    private var pool: PixelBufferPool?

    deinit {
        sws_freeContext(context)
    }

    /// The picture of a frame; nil if it cannot be made.
    mutating func picture(
        of frame: UnsafeMutablePointer<AVFrame>, within limit: VideoDimensions
    ) -> PixelBuffer? {
        let (width, height) = (frame.pointee.width, frame.pointee.height)
        guard width > 0, height > 0, let target = Self.target(of: frame.pointee, within: limit) else { return nil }
        let attachments = PixelBufferAttachments(colour: Self.colour(of: frame.pointee))
        let isPlain = frame.pointee.format == AV_PIX_FMT_YUV420P.rawValue
        if isPlain, target == VideoDimensions(width: Int(width), height: Int(height)),
            let picture = Self.wrap(frame, target, attachments)
        {
            return picture
        }
        return scale(
            frame, Form(format: frame.pointee.format, width: width, height: height, target: target), attachments)
    }

    /// The size with square samples that fits the limit, in even numbers.
    private static func target(of frame: AVFrame, within limit: VideoDimensions) -> VideoDimensions? {
        let aspect = frame.sample_aspect_ratio
        let isSquare = aspect.num <= 0 || aspect.den <= 0
        let shape = isSquare ? 1 : min(max(Double(aspect.num) / Double(aspect.den), 0.1), 10)
        let (width, height) = (Double(frame.width) * shape, Double(frame.height))
        let scale = min(1, Double(limit.width) / width, Double(limit.height) / height)
        func even(_ value: Double) -> Int { max(2, Int((value * scale / 2).rounded()) * 2) }
        return VideoDimensions(width: even(width), height: even(height))
    }

    private static func colour(of frame: AVFrame) -> ColourDescription {
        let isRGB = frame.colorspace == AVCOL_SPC_RGB
        guard !isRGB else { return .bt601 }
        return ColourDescription(
            primaries: UInt8(clamping: frame.color_primaries.rawValue),
            transferCharacteristics: UInt8(clamping: frame.color_trc.rawValue),
            matrixCoefficients: UInt8(clamping: frame.colorspace.rawValue),
            isFullRange: frame.color_range == AVCOL_RANGE_JPEG && !isFullByFormat(frame.format))
    }

    /// libswscale makes limited range of these formats.
    private static func isFullByFormat(_ format: Int32) -> Bool {
        [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P].contains {
            $0.rawValue == format
        }
    }

    private static func wrap(
        _ frame: UnsafeMutablePointer<AVFrame>, _ dimensions: VideoDimensions, _ attachments: PixelBufferAttachments
    ) -> PixelBuffer? {
        guard let held = HeldFrame(frame) else { return nil }
        let data = held.frame.pointee.data
        let sizes = held.frame.pointee.linesize
        func plane(_ base: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ index: Int) -> PixelBufferPlane? {
            let (rowBytes, rows) = PixelFormat.i420.planeSize(index, of: dimensions)
            guard let base, Int(stride) >= rowBytes else { return nil }
            return PixelBufferPlane(base: UnsafeMutableRawPointer(base), stride: Int(stride), rows: rows)
        }
        guard let luma = plane(data.0, sizes.0, 0), let blue = plane(data.1, sizes.1, 1),
            let red = plane(data.2, sizes.2, 2)
        else { return nil }
        return PixelBuffer(
            wrapping: PixelBufferPlanes(luma, blue, red), format: .i420, dimensions: dimensions,
            attachments: attachments, release: { extendLifetime(held) })
    }

    private mutating func scale(
        _ frame: UnsafeMutablePointer<AVFrame>, _ wanted: Form, _ attachments: PixelBufferAttachments
    ) -> PixelBuffer? {
        if form != wanted {
            sws_freeContext(context)
            context = sws_getContext(
                wanted.width, wanted.height, AVPixelFormat(wanted.format), Int32(wanted.target.width),
                Int32(wanted.target.height), AV_PIX_FMT_YUV420P, SWS_BILINEAR, nil, nil, nil)
            pool = PixelBufferPool(format: .i420, dimensions: wanted.target)
            form = wanted
        }
        guard let context, let pool else { return nil }
        var picture = pool.makeBuffer()
        picture.attachments = attachments
        let rows = picture.withMutablePlanes { planes in
            var bases: [UnsafeMutablePointer<UInt8>?] = planes.indices.map {
                planes[$0].base.assumingMemoryBound(to: UInt8.self)
            }
            var strides = planes.indices.map { Int32(clamping: planes[$0].stride) }
            return withUnsafePointer(to: &frame.pointee.data) { data in
                withUnsafePointer(to: &frame.pointee.linesize) { sizes in
                    data.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 8) { data in
                        sizes.withMemoryRebound(to: Int32.self, capacity: 8) { sizes in
                            sws_scale(context, data, sizes, 0, wanted.height, &bases, &strides)
                        }
                    }
                }
            }
        }
        return rows > 0 ? picture.freeze() : nil
    }
}

/// A reference to the memory of a decoded frame.
///
/// Unchecked because of the pointer: the object alone owns it, nobody writes to it, and libavutil counts references
/// to the memory atomically.
private final class HeldFrame: @unchecked Sendable {
    let frame: UnsafeMutablePointer<AVFrame>

    init?(_ other: UnsafeMutablePointer<AVFrame>) {
        guard let frame = av_frame_clone(other) else { return nil }
        self.frame = frame
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }
}

import H264
public import MediaCore

/// The limits of a decoder. A stream beyond it is refused before any memory is allocated for its pictures.
public struct DecodingLimits: Hashable, Sendable {
    /// The largest width or height, in luma samples, as coded.
    public var maximumDimension: Int
    /// The largest area, in luma samples, as coded.
    public var maximumArea: Int
    public var maximumReferenceFrames: Int
    /// The limit of memory for decoded pictures, as `pictureMemory(for:)` computes it, without pictures that the caller
    /// keeps.
    public var maximumPictureMemory: DataSize

    /// Makes limits. The default is that of H.264 level 5.1 at the shape of a 4K picture (4096 either way, 4096x2304
    /// samples), with 256 MiB of pictures.
    public init(
        maximumDimension: Int = 4096, maximumArea: Int = 4096 * 2304, maximumReferenceFrames: Int = 16,
        maximumPictureMemory: DataSize = DataSize(bytes: 256 << 20)
    ) {
        self.maximumDimension = maximumDimension
        self.maximumArea = maximumArea
        self.maximumReferenceFrames = maximumReferenceFrames
        self.maximumPictureMemory = maximumPictureMemory
    }

    public static let `default` = DecodingLimits()

    /// Returns the reason for which a stream of `format` is not decoded; nil if it is.
    public func reasonToReject(_ format: VideoFormatDescription) -> String? {
        guard format.chromaFormat == 1 else {
            return "chroma_format_idc is \(format.chromaFormat); send 4:2:0 video (chroma_format_idc 1)"
        }
        guard format.bitDepth == 8 else { return "samples have \(format.bitDepth) bits; send 8-bit video" }
        // The description states the bits of luma alone.
        let chromaDepth = format.sequenceParameterSets.first?.chromaBitDepth ?? 8
        guard chromaDepth == 8 else { return "samples of chroma have \(chromaDepth) bits; send 8-bit video" }
        // The dimensions are checked singly first, so that their product cannot overflow.
        let coded = format.codedDimensions
        guard coded.width > 0, coded.height > 0,
            max(coded.width, coded.height) <= min(maximumDimension, Self.largestDimension), coded.area <= maximumArea
        else {
            return "a \(coded) picture is beyond the limit of \(maximumDimension) samples a side and "
                + "\(maximumArea) in all; send a smaller one"
        }
        guard format.dimensions.width > 0, format.dimensions.height > 0 else {
            return "cropping leaves nothing of the picture"
        }
        guard (0...maximumReferenceFrames).contains(format.maximumReferenceFrames) else {
            return "\(format.maximumReferenceFrames) reference frames are beyond the limit of "
                + "\(maximumReferenceFrames); send fewer"
        }
        let memory = Self.pictureMemory(for: format)
        guard memory <= maximumPictureMemory else {
            return "its pictures may need \(memory.bytes) bytes, beyond the limit of \(maximumPictureMemory.bytes); "
                + "send smaller pictures or fewer reference frames"
        }
        guard !format.parameterSets.isEmpty else { return "the format has no parameter sets" }
        return nil
    }

    /// Returns the memory that a decoder may need for pictures of `format`: references, delayed pictures, the one being
    /// decoded and the one handed out.
    ///
    /// - Parameter format: 8-bit 4:2:0 of a size within 65536 samples a side.
    public static func pictureMemory(for format: VideoFormatDescription) -> DataSize {
        let coded = format.codedDimensions
        guard (0...largestDimension).contains(coded.width), (0...largestDimension).contains(coded.height) else {
            return DataSize(bytes: .max)
        }
        let references = min(max(format.maximumReferenceFrames, 0), mostFrames)
        let frames = references + min(max(format.reorderDepth, 0), mostFrames) + 2
        // Rows are padded for SIMD.
        let stride = (coded.width + 63) / 64 * 64
        return DataSize(bytes: frames * (stride * coded.height * 3 / 2))
    }

    /// The largest side: far from overflow, and more than any level of H.264 allows.
    private static let largestDimension = 1 << 16
    /// `MaxDpbFrames` is never more (H.264 A.3.1).
    private static let mostFrames = 16
}

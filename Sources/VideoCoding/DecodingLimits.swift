public import MediaCore

/// What a decoder takes. Larger pictures are refused before any memory is allocated for them.
public struct DecodingLimits: Hashable, Sendable {
    /// The largest width or height, in luma samples, as coded.
    public var maximumDimension: Int
    /// The largest area, in luma samples, as coded.
    public var maximumArea: Int
    /// The most reference frames.
    public var maximumReferenceFrames: Int

    /// The default is what H.264 level 5.1 allows at the shape of a 4K picture: 4096 either way, 4096x2304 samples.
    public init(maximumDimension: Int = 4096, maximumArea: Int = 4096 * 2304, maximumReferenceFrames: Int = 16) {
        self.maximumDimension = maximumDimension
        self.maximumArea = maximumArea
        self.maximumReferenceFrames = maximumReferenceFrames
    }

    public static let `default` = DecodingLimits()

    /// Why a stream of `format` is not decoded; nil when it is.
    public func reasonToReject(_ format: VideoFormatDescription) -> String? {
        guard format.chromaFormat == 1 else {
            return "chroma_format_idc is \(format.chromaFormat); send 4:2:0 video (chroma_format_idc 1)"
        }
        guard format.bitDepth == 8 else { return "samples have \(format.bitDepth) bits; send 8-bit video" }
        // The dimensions are checked one by one first, so that their product cannot overflow.
        let coded = format.codedDimensions
        guard coded.width > 0, coded.height > 0, max(coded.width, coded.height) <= maximumDimension,
            coded.area <= maximumArea
        else {
            return "a \(coded) picture is beyond the limit of \(maximumDimension) samples a side and "
                + "\(maximumArea) in all; send a smaller one"
        }
        guard format.maximumReferenceFrames <= maximumReferenceFrames else {
            return "\(format.maximumReferenceFrames) reference frames are beyond the limit of "
                + "\(maximumReferenceFrames); send fewer"
        }
        guard !format.parameterSets.isEmpty else { return "the format has no parameter sets" }
        return nil
    }
}

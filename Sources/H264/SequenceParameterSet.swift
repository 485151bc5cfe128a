public import MediaCore

/// The parameters of a sequence of pictures: `seq_parameter_set_data()` (H.264 7.3.2.1.1), with its VUI.
public struct SequenceParameterSet: Hashable, Sendable {
    /// The coding of picture order counts (H.264 8.2.1).
    public enum PictureOrderCount: Hashable, Sendable {
        /// Type 0: sent as the low bits, this many.
        case explicit(log2MaximumLSB: Int)
        /// Type 1: expected from `frame_num`, with corrections.
        case cyclic(
            deltaIsAlwaysZero: Bool, offsetForNonReferencePicture: Int, offsetForTopToBottomField: Int,
            offsetsForReferenceFrames: [Int])
        /// Type 2: output order is decoding order.
        case decodingOrder
    }

    /// Samples cut off each edge of the coded picture, in luma samples.
    public struct Cropping: Hashable, Sendable {
        public var left = 0
        public var right = 0
        public var top = 0
        public var bottom = 0
    }

    public var profileLevel: H264ProfileLevelID
    /// `seq_parameter_set_id`, 0 to 31.
    public var id: UInt8
    /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: UInt8 = 1
    /// `separate_colour_plane_flag`.
    public var hasSeparateColourPlanes = false
    /// Bits per luma sample, 8 to 14.
    public var lumaBitDepth: UInt8 = 8
    /// Bits per chroma sample, 8 to 14.
    public var chromaBitDepth: UInt8 = 8
    /// `qpprime_y_zero_transform_bypass_flag`.
    public var bypassesTransformAtZeroQP = false
    public var scalingMatrix: ScalingMatrix?
    /// `log2_max_frame_num_minus4` + 4.
    public var log2MaximumFrameNumber: Int
    public var pictureOrderCount: PictureOrderCount
    /// `max_num_ref_frames`, 0 to 16.
    public var maximumReferenceFrames: Int
    /// `gaps_in_frame_num_value_allowed_flag`.
    public var allowsFrameNumberGaps: Bool
    /// `frame_mbs_only_flag`: no fields, no macroblock-adaptive coding of them.
    public var isFrameOnly: Bool
    /// `mb_adaptive_frame_field_flag`.
    public var isMacroblockAdaptive = false
    /// `direct_8x8_inference_flag`.
    public var infersDirect8x8: Bool
    public var cropping = Cropping()
    public var usability: VideoUsabilityInformation?
    /// The picture as coded: whole macroblocks.
    public var codedDimensions: VideoDimensions

    /// The picture as shown, after cropping.
    public var dimensions: VideoDimensions {
        VideoDimensions(
            width: codedDimensions.width - cropping.left - cropping.right,
            height: codedDimensions.height - cropping.top - cropping.bottom)
    }

    /// `ChromaArrayType`: the chroma format of the arrays that are coded together.
    public var chromaArrayType: UInt8 { hasSeparateColourPlanes ? 0 : chromaFormat }
}

public import NIOCore

/// What a decoder must know of an H.264 stream before its first frame.
///
/// `H264` makes one from parameter sets: `VideoFormatDescription(h264ParameterSets:)`.
public struct VideoFormatDescription: Hashable, Sendable {
    /// `profile_idc`, `constraint_set` flags and `level_idc` (H.264 7.4.2.1.1), as in SDP's `profile-level-id`.
    public struct ProfileLevel: Hashable, Sendable {
        public var profileIDC: UInt8
        public var constraintFlags: UInt8
        public var levelIDC: UInt8

        public init(profileIDC: UInt8, constraintFlags: UInt8, levelIDC: UInt8) {
            self.profileIDC = profileIDC
            self.constraintFlags = constraintFlags
            self.levelIDC = levelIDC
        }
    }

    /// SPS NAL units, then PPS NAL units, with their header byte, without start codes.
    public var parameterSets: [ByteBuffer]
    public var profileLevel: ProfileLevel
    /// The picture as shown, after cropping.
    public var dimensions: VideoDimensions
    /// The picture as coded: whole macroblocks.
    public var codedDimensions: VideoDimensions
    /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: UInt8
    /// Bits per luma sample.
    public var bitDepth: UInt8
    /// `max_num_ref_frames`.
    public var maximumReferenceFrames: Int
    /// How many frames may precede a frame in decoding order and follow it in output order; zero without B-frames.
    public var reorderDepth: Int
    /// Width and height of a sample, as shown; 1:1 where unknown.
    public var pixelAspectRatio: VideoDimensions

    public init(
        parameterSets: [ByteBuffer], profileLevel: ProfileLevel, dimensions: VideoDimensions,
        codedDimensions: VideoDimensions, chromaFormat: UInt8 = 1, bitDepth: UInt8 = 8,
        maximumReferenceFrames: Int = 1, reorderDepth: Int = 0,
        pixelAspectRatio: VideoDimensions = VideoDimensions(width: 1, height: 1)
    ) {
        self.parameterSets = parameterSets
        self.profileLevel = profileLevel
        self.dimensions = dimensions
        self.codedDimensions = codedDimensions
        self.chromaFormat = chromaFormat
        self.bitDepth = bitDepth
        self.maximumReferenceFrames = maximumReferenceFrames
        self.reorderDepth = reorderDepth
        self.pixelAspectRatio = pixelAspectRatio
    }
}

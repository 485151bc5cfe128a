public import NIOCore

/// The properties of an H.264 stream that a decoder must know before its first frame.
///
/// `H264` makes one from parameter sets: `VideoFormatDescription(h264ParameterSets:)`. It is a reference to constant
/// data: cheap to copy, and two copies of the same description compare at once.
public struct VideoFormatDescription: Sendable {
    /// The properties of the pictures, from the parameter sets.
    public struct Properties: Hashable, Sendable {
        public var profileLevel: H264ProfileLevelID
        /// The picture as shown, after cropping.
        public var dimensions: VideoDimensions
        /// The picture as coded: whole macroblocks.
        public var codedDimensions: VideoDimensions
        /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
        public var chromaFormat: UInt8 = 1
        /// Bits per luma sample.
        public var bitDepth: UInt8 = 8
        /// `max_num_ref_frames`.
        public var maximumReferenceFrames = 1
        /// The number of frames that may precede a frame in decoding order and follow it in output order; zero without
        /// B-frames.
        public var reorderDepth = 0
        /// Width and height of a sample, as shown; 1:1 where unknown.
        public var pixelAspectRatio = VideoDimensions(width: 1, height: 1)
        /// The part of the coded picture that is shown; nil for all of it.
        public var cleanAperture: PixelRect?
        public var colour = ColourDescription.unspecified
        /// Frames per second by the stream's own clock (VUI timing); nil if it does not say.
        public var frameRate: Double?

        public init(profileLevel: H264ProfileLevelID, dimensions: VideoDimensions, codedDimensions: VideoDimensions) {
            self.profileLevel = profileLevel
            self.dimensions = dimensions
            self.codedDimensions = codedDimensions
        }
    }

    private let storage: Storage

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - parameterSets: SPS NAL units, then PPS NAL units, with their header byte, without start codes.
    ///   - meaning: All that the parameter sets say, however they are written. Descriptions with equal meanings are
    ///     equal; without one, the bytes of the parameter sets have to be.
    public init(
        parameterSets: [ByteBuffer], properties: Properties, meaning: (any Hashable & Sendable)? = nil
    ) {
        storage = Storage(parameterSets: parameterSets, properties: properties, meaning: meaning)
    }

    /// SPS NAL units, then PPS NAL units, with their header byte, without start codes.
    public var parameterSets: [ByteBuffer] { storage.parameterSets }
    /// The full content of the parameter sets, as it was given.
    public var meaning: (any Hashable & Sendable)? { storage.meaning }
    public var properties: Properties { storage.properties }

    public var profileLevel: H264ProfileLevelID { storage.properties.profileLevel }
    /// The picture as shown, after cropping.
    public var dimensions: VideoDimensions { storage.properties.dimensions }
    /// The picture as coded: whole macroblocks.
    public var codedDimensions: VideoDimensions { storage.properties.codedDimensions }
    /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: UInt8 { storage.properties.chromaFormat }
    /// Bits per luma sample.
    public var bitDepth: UInt8 { storage.properties.bitDepth }
    /// `max_num_ref_frames`.
    public var maximumReferenceFrames: Int { storage.properties.maximumReferenceFrames }
    /// The number of frames that may precede a frame in decoding order and follow it in output order; zero without
    /// B-frames.
    public var reorderDepth: Int { storage.properties.reorderDepth }
    /// Width and height of a sample, as shown; 1:1 where unknown.
    public var pixelAspectRatio: VideoDimensions { storage.properties.pixelAspectRatio }
    /// The part of the coded picture that is shown; nil for all of it.
    public var cleanAperture: PixelRect? { storage.properties.cleanAperture }
    public var colour: ColourDescription { storage.properties.colour }
    /// Frames per second by the stream's own clock (VUI timing); nil if it does not say.
    public var frameRate: Double? { storage.properties.frameRate }

    private final class Storage: Sendable {
        let parameterSets: [ByteBuffer]
        let properties: Properties
        let meaning: (any Hashable & Sendable)?

        init(parameterSets: [ByteBuffer], properties: Properties, meaning: (any Hashable & Sendable)?) {
            self.parameterSets = parameterSets
            self.properties = properties
            self.meaning = meaning
        }
    }
}

extension VideoFormatDescription: Hashable {
    /// Returns true if both describe the same stream, in the same bytes or in others of the same meaning.
    public static func == (left: VideoFormatDescription, right: VideoFormatDescription) -> Bool {
        if left.storage === right.storage { return true }
        guard left.properties == right.properties else { return false }
        if left.parameterSets == right.parameterSets { return true }
        guard let leftMeaning = left.meaning, let rightMeaning = right.meaning else { return false }
        return areEqual(leftMeaning, rightMeaning)
    }

    private static func areEqual<Meaning: Hashable>(_ left: Meaning, _ right: any Hashable) -> Bool {
        left == right as? Meaning
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(properties)
    }
}

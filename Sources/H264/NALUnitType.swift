/// `nal_unit_type`: the kind of a NAL unit (H.264 table 7-1; 24 to 29 as RFC 6184 table 1 uses them in RTP).
public enum NALUnitType: UInt8, Hashable, Sendable, CaseIterable {
    /// A type that is left to applications; 24 to 31 are not used in RTP.
    case unspecified = 0
    /// A slice of a picture that is not an IDR picture.
    case codedSliceNonIDR = 1
    /// The header and motion of a partitioned slice; B is its intra, C its inter residual.
    case dataPartitionA = 2
    case dataPartitionB = 3
    case dataPartitionC = 4
    /// A slice of an IDR picture, where decoding can start.
    case codedSliceIDR = 5
    /// Supplemental enhancement information.
    case sei = 6
    case sequenceParameterSet = 7
    case pictureParameterSet = 8
    case accessUnitDelimiter = 9
    case endOfSequence = 10
    case endOfStream = 11
    case fillerData = 12
    /// The additional parameters of an SPS for auxiliary pictures (alpha).
    case sequenceParameterSetExtension = 13
    /// The parameters of the next slice for the scalable and multiview extensions.
    case prefix = 14
    /// The SPS of a scalable layer or of another view.
    case subsetSequenceParameterSet = 15
    case depthParameterSet = 16
    case reserved17 = 17
    case reserved18 = 18
    /// A slice of an auxiliary picture (alpha), without partitioning.
    case auxiliaryCodedSlice = 19
    /// A slice of a scalable or multiview extension.
    case codedSliceExtension = 20
    /// A slice of a depth view, or of a texture view beside one.
    case codedSliceDepthExtension = 21
    case reserved22 = 22
    case reserved23 = 23
    /// RFC 6184: single-time aggregation packet without decoding order numbers.
    case aggregationSTAPA = 24
    case aggregationSTAPB = 25
    case aggregationMTAP16 = 26
    case aggregationMTAP24 = 27
    /// RFC 6184: fragmentation unit without a decoding order number.
    case fragmentationFUA = 28
    case fragmentationFUB = 29
    case unspecified30 = 30
    case unspecified31 = 31

    /// True if the unit holds slice data of a primary, redundant or auxiliary picture (VCL, without annexes G to J).
    public var isVCL: Bool { (1...5).contains(rawValue) || self == .auxiliaryCodedSlice }

    /// True if the unit is an SPS or a PPS.
    var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }

    /// True if the unit begins with a slice header: a slice of a primary or redundant picture, or its partition A.
    var hasSliceHeader: Bool { self == .codedSliceNonIDR || self == .dataPartitionA || self == .codedSliceIDR }

    /// True if the standard leaves the type to applications: in RTP, 24 to 29 are kinds of packets.
    public var isUnspecified: Bool { rawValue == 0 || rawValue >= 24 }

    /// True for a type of a NAL unit itself, not of an RTP packet that carries several.
    var isCarriedByRTP: Bool { (1...23).contains(rawValue) }
}

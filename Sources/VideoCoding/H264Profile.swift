public import MediaCore

/// The H.264 profiles (A.2) that the encoders make.
public enum H264Profile: String, CaseIterable, Sendable {
    /// Constrained Baseline's tools under the name of Baseline, whose decoders know more (`constraint_set1_flag` 0).
    case baseline
    /// CAVLC, no B slices, no interlace, nothing that only Extended or Main decoders know. Every decoder plays it.
    case constrainedBaseline = "constrained-baseline"
    /// Main profile, with CABAC: the same picture in about a tenth fewer bits.
    case main
    /// High profile, with 8x8 transforms if the encoder has them.
    case high

    /// `profile_idc`.
    public var profileIDC: UInt8 {
        switch self {
        case .baseline, .constrainedBaseline: 66
        case .main: 77
        case .high: 100
        }
    }

    /// True if the profile has arithmetic coding.
    public var hasCABAC: Bool { self == .main || self == .high }

    /// True if the profile has pictures that are predicted from both sides.
    public var hasBSlices: Bool { self == .main || self == .high }

    /// The profile with which to answer a receiver that offered `profileLevel`; nil when it plays none of ours.
    ///
    /// Plain Baseline and Extended are answered with Constrained Baseline, which they include.
    public init?(profileLevel: VideoFormatDescription.ProfileLevel) {
        switch profileLevel.profileIDC {
        case 66, 88: self = .constrainedBaseline
        case 77: self = profileLevel.constraintFlags & 0x80 != 0 ? .constrainedBaseline : .main
        case 100: self = .high
        default: return nil
        }
    }

    /// Kilobits per second to each unit of `MaxBR` for the VCL (table A-2), in thousands of bits.
    var bitRateFactor: Double { self == .high ? 1250 : 1000 }
}

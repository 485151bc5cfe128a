public import MediaCore

extension H264Profile {
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

    /// The profile with which to answer a receiver that offered `id`; nil if it plays none of ours.
    ///
    /// Plain Baseline is answered with Constrained Baseline, which it includes.
    public init?(answering id: H264ProfileLevelID) {
        guard let profile = id.profile else { return nil }
        self = profile == .baseline ? .constrainedBaseline : profile
    }

    /// Kilobits per second to each unit of `MaxBR` for the VCL (table A-2), in thousands of bits.
    var bitRateFactor: Double { self == .high ? 1250 : 1000 }
}

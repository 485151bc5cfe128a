/// The H.264 profiles (A.2) that this package sends or receives.
public enum H264Profile: String, CaseIterable, Sendable {
    /// Allows flexible macroblock order and redundant slices. The encoders use none, and set `constraint_set1_flag` 0.
    case baseline
    /// CAVLC, no B slices, no interlace, nothing that only Extended or Main decoders know. Every decoder plays it.
    case constrainedBaseline = "constrained-baseline"
    /// Main profile, with CABAC: the same picture in about a tenth fewer bits.
    case main
    /// High profile, with 8x8 transforms if the encoder has them. Its progressive and constrained subsets count too.
    case high
}

/// An H.264 profile and level: `profile_idc`, the constraint flags and `level_idc` of an SPS (H.264, 7.4.2.1.1), and
/// `profile-level-id` of a payload type (RFC 6184, 8.1).
public struct H264ProfileLevelID: Hashable, Sendable {
    /// An H.264 level (H.264, A.3), ordered by its limits.
    public struct Level: Hashable, Comparable, Sendable {
        /// Ten times the level's number: 31 is level 3.1. Level 1b, which has no such number, is 9.
        public let idc: UInt8

        public init(idc: UInt8) {
            self.idc = idc
        }

        public static let level1b = Level(idc: 9)
        public static let level31 = Level(idc: 31)
        public static let level4 = Level(idc: 40)
        public static let level51 = Level(idc: 51)

        /// Level 1b lies between levels 1 and 1.1.
        private var rank: Int { idc == 9 ? 21 : 2 * Int(idc) }

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
    }

    public var profileIDC: UInt8
    /// `profile-iop`: the six constraint flags and two zero bits.
    public var constraintFlags: UInt8
    public var levelIDC: UInt8

    public init(profileIDC: UInt8, constraintFlags: UInt8, levelIDC: UInt8) {
        self.profileIDC = profileIDC
        self.constraintFlags = constraintFlags
        self.levelIDC = levelIDC
    }

    /// Creates the usual identifier of a profile.
    public init(_ profile: H264Profile, level: Level) {
        switch profile {
        case .constrainedBaseline: self.init(profileIDC: 66, constraintFlags: 0xE0, levelIDC: 0)
        case .baseline: self.init(profileIDC: 66, constraintFlags: 0, levelIDC: 0)
        case .main: self.init(profileIDC: 77, constraintFlags: 0, levelIDC: 0)
        case .high: self.init(profileIDC: 100, constraintFlags: 0, levelIDC: 0)
        }
        self.level = level
    }

    /// Reads six hexadecimal digits; nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, let bytes = [UInt8](hexadecimal: text.utf8) else { return nil }
        self.init(profileIDC: bytes[0], constraintFlags: bytes[1], levelIDC: bytes[2])
    }

    /// The value for a payload type without the parameter: Baseline at level 1 (RFC 6184, 8.1).
    public static let inferred = H264ProfileLevelID(profileIDC: 66, constraintFlags: 0, levelIDC: 10)

    /// The profile by table 5 of RFC 6184, 8.1; nil for a profile that `H264Profile` lacks.
    public var profile: H264Profile? {
        switch profileIDC {
        case 66: constraintFlags & 0x40 != 0 ? .constrainedBaseline : .baseline
        case 77: constraintFlags & 0x80 != 0 ? .constrainedBaseline : .main
        case 88 where constraintFlags & 0xC0 == 0xC0: .constrainedBaseline
        case 88 where constraintFlags & 0x80 != 0: .baseline
        case 100: .high
        default: nil
        }
    }

    /// The level. In Baseline, Main and Extended, level 1b is 11 with `constraint_set3_flag` (H.264, A.3.4.1).
    public var level: Level {
        get {
            if hasLevel1bFlag, levelIDC == 11, constraintFlags & 0x10 != 0 { return .level1b }
            return levelIDC == 9 ? .level1b : Level(idc: levelIDC)
        }
        set {
            if hasLevel1bFlag { constraintFlags &= ~0x10 }
            switch (newValue, hasLevel1bFlag) {
            case (.level1b, true):
                levelIDC = 11
                constraintFlags |= 0x10
            case (.level1b, false): levelIDC = 9
            default: levelIDC = newValue.idc
            }
        }
    }

    private var hasLevel1bFlag: Bool { profileIDC == 66 || profileIDC == 77 || profileIDC == 88 }
}

extension H264ProfileLevelID: CustomStringConvertible {
    /// Six hexadecimal digits, as in SDP.
    public var description: String { [profileIDC, constraintFlags, levelIDC].hexadecimal }
}

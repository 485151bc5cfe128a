public import MediaCore

/// The H.264 profile and level of a payload type: `profile-level-id` (RFC 6184, 8.1).
public struct H264ProfileLevelID: Hashable, Sendable {
    /// The profiles that this package sends or receives.
    public enum Profile: Hashable, Sendable, CaseIterable {
        case constrainedBaseline
        /// Baseline, which allows flexible macroblock order and redundant slices. We send constrained baseline, a
        /// subset of it.
        case baseline
        case main
        /// High, and its progressive and constrained subsets. The streams that we send satisfy them all.
        case high
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
    public init(_ profile: Profile, level: H264ProfileLevelID.Level) {
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
        guard text.utf8.count == 6, text.utf8.first != UInt8(ascii: "+"), let value = UInt32(text, radix: 16) else {
            return nil
        }
        self.init(
            profileIDC: UInt8(truncatingIfNeeded: value >> 16),
            constraintFlags: UInt8(truncatingIfNeeded: value >> 8), levelIDC: UInt8(truncatingIfNeeded: value))
    }

    /// The value for a payload type without the parameter: Baseline at level 1 (RFC 6184, 8.1).
    public static let inferred = H264ProfileLevelID(profileIDC: 66, constraintFlags: 0, levelIDC: 10)

    /// The profile by table 5 of RFC 6184, 8.1; nil for a profile that `Profile` lacks.
    public var profile: Profile? {
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
    public var level: H264ProfileLevelID.Level {
        get {
            if hasLevel1bFlag, levelIDC == 11, constraintFlags & 0x10 != 0 { return .level1b }
            return levelIDC == 9 ? .level1b : H264ProfileLevelID.Level(idc: levelIDC)
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

    /// The same profile and level, in the form of a stream's format description.
    public var profileLevel: VideoFormatDescription.ProfileLevel {
        VideoFormatDescription.ProfileLevel(
            profileIDC: profileIDC, constraintFlags: constraintFlags, levelIDC: levelIDC)
    }
}

extension H264ProfileLevelID: CustomStringConvertible {
    /// Six hexadecimal digits, as in SDP.
    public var description: String {
        [profileIDC, constraintFlags, levelIDC].map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

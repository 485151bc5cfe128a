import H264
public import MediaCore

/// The limits of an H.264 level (table A-1).
public struct H264Level: Hashable, Sendable {
    /// `level_idc`, with 9 for level 1b as in SDP and most encoders.
    public var levelIDC: UInt8
    /// `MaxMBPS`: macroblocks per second.
    public var maximumMacroblockRate: Int
    /// `MaxFS`: macroblocks in a picture.
    public var maximumPictureSize: Int
    /// `MaxBR`, in units of 1000 bits (1200 or 1250 in some profiles) per second.
    var maximumBitRateUnits: Int

    /// All levels up to 5.2, in order.
    public static let all = [
        H264Level(levelIDC: 10, maximumMacroblockRate: 1485, maximumPictureSize: 99, maximumBitRateUnits: 64),
        H264Level(levelIDC: 9, maximumMacroblockRate: 1485, maximumPictureSize: 99, maximumBitRateUnits: 128),
        H264Level(levelIDC: 11, maximumMacroblockRate: 3000, maximumPictureSize: 396, maximumBitRateUnits: 192),
        H264Level(levelIDC: 12, maximumMacroblockRate: 6000, maximumPictureSize: 396, maximumBitRateUnits: 384),
        H264Level(levelIDC: 13, maximumMacroblockRate: 11880, maximumPictureSize: 396, maximumBitRateUnits: 768),
        H264Level(levelIDC: 20, maximumMacroblockRate: 11880, maximumPictureSize: 396, maximumBitRateUnits: 2000),
        H264Level(levelIDC: 21, maximumMacroblockRate: 19800, maximumPictureSize: 792, maximumBitRateUnits: 4000),
        H264Level(levelIDC: 22, maximumMacroblockRate: 20250, maximumPictureSize: 1620, maximumBitRateUnits: 4000),
        H264Level(levelIDC: 30, maximumMacroblockRate: 40500, maximumPictureSize: 1620, maximumBitRateUnits: 10000),
        H264Level(levelIDC: 31, maximumMacroblockRate: 108_000, maximumPictureSize: 3600, maximumBitRateUnits: 14000),
        H264Level(levelIDC: 32, maximumMacroblockRate: 216_000, maximumPictureSize: 5120, maximumBitRateUnits: 20000),
        H264Level(levelIDC: 40, maximumMacroblockRate: 245_760, maximumPictureSize: 8192, maximumBitRateUnits: 20000),
        H264Level(levelIDC: 41, maximumMacroblockRate: 245_760, maximumPictureSize: 8192, maximumBitRateUnits: 50000),
        H264Level(levelIDC: 42, maximumMacroblockRate: 522_240, maximumPictureSize: 8704, maximumBitRateUnits: 50000),
        H264Level(
            levelIDC: 50, maximumMacroblockRate: 589_824, maximumPictureSize: 22080, maximumBitRateUnits: 135_000),
        H264Level(
            levelIDC: 51, maximumMacroblockRate: 983_040, maximumPictureSize: 36864, maximumBitRateUnits: 240_000),
        H264Level(
            levelIDC: 52, maximumMacroblockRate: 2_073_600, maximumPictureSize: 36864, maximumBitRateUnits: 240_000),
    ]

    private init(
        levelIDC: UInt8, maximumMacroblockRate: Int, maximumPictureSize: Int, maximumBitRateUnits: Int
    ) {
        self.levelIDC = levelIDC
        self.maximumMacroblockRate = maximumMacroblockRate
        self.maximumPictureSize = maximumPictureSize
        self.maximumBitRateUnits = maximumBitRateUnits
    }

    /// The level with this `level_idc`; nil when we do not know it.
    public init?(levelIDC: UInt8) {
        guard let level = Self.all.first(where: { $0.levelIDC == levelIDC }) else { return nil }
        self = level
    }

    /// The level with the limits of a decoder that takes more than its level demands (`max-fs`, `max-mbps` and `max-br`
    /// of RFC 6184, 8.1). Nothing is beyond the highest level, and a lower limit than the level's is none.
    public func extended(pictureSize: Int?, macroblockRate: Int?, bitRateUnits: Int?) -> H264Level {
        let highest = Self.all[Self.all.count - 1]
        var extended = self
        extended.maximumPictureSize = max(maximumPictureSize, min(pictureSize ?? 0, highest.maximumPictureSize))
        extended.maximumMacroblockRate = max(
            maximumMacroblockRate, min(macroblockRate ?? 0, highest.maximumMacroblockRate))
        extended.maximumBitRateUnits = max(maximumBitRateUnits, min(bitRateUnits ?? 0, highest.maximumBitRateUnits))
        return extended
    }

    /// The lowest level that demands as much of every decoder: this one, unless it was extended.
    var covering: H264Level {
        let covering = Self.all.first {
            $0.maximumPictureSize >= maximumPictureSize && $0.maximumMacroblockRate >= maximumMacroblockRate
                && $0.maximumBitRateUnits >= maximumBitRateUnits
        }
        return covering ?? Self.all[Self.all.count - 1]
    }

    /// The lowest level that holds such a stream; nil when none does.
    public static func lowest(
        for dimensions: VideoDimensions, frameRate: Int, bitRate: BitRate, profile: H264Profile
    ) -> H264Level? {
        all.first {
            $0.reasonToRefuse(dimensions, frameRate: frameRate) == nil
                && bitRate <= $0.maximumBitRate(profile: profile)
        }
    }

    /// A level's number in its usual form, such as "3.1".
    static func name(levelIDC: UInt8) -> String {
        levelIDC == 9 ? "1b" : "\(levelIDC / 10).\(levelIDC % 10)"
    }

    /// The highest bitrate.
    public func maximumBitRate(profile: H264Profile) -> BitRate {
        BitRate(bitsPerSecond: Double(maximumBitRateUnits) * profile.bitRateFactor)
    }

    /// `MaxDpbFrames`: how many pictures of `dimensions` a decoder keeps (A.3.1 h), 16 at most.
    public func maximumReferenceFrames(for dimensions: VideoDimensions) -> Int {
        let kept = SequenceParameterSet.maximumBufferedMacroblocks(levelIDC: levelIDC)
        return min(max(kept / max(1, Self.macroblocks(dimensions)), 1), 16)
    }

    /// The highest whole frame rate at which pictures of `dimensions` fit.
    public func maximumFrameRate(for dimensions: VideoDimensions) -> Int {
        maximumMacroblockRate / max(1, Self.macroblocks(dimensions))
    }

    /// Returns the reason for which pictures of this size and rate do not fit; nil if they do (A.3.1 a, b, f and g).
    public func reasonToRefuse(_ dimensions: VideoDimensions, frameRate: Int) -> String? {
        let macroblocks = Self.macroblocks(dimensions)
        guard macroblocks <= maximumPictureSize else {
            return "a \(dimensions) picture has \(macroblocks) macroblocks, the level allows \(maximumPictureSize); "
                + "encode a smaller picture"
        }
        let longSide = (max(dimensions.width, dimensions.height) + 15) / 16
        guard longSide * longSide <= 8 * maximumPictureSize else {
            return "a \(dimensions) picture is too long for the level; encode a smaller picture"
        }
        guard frameRate <= maximumFrameRate(for: dimensions) else {
            return "\(dimensions) at \(frameRate) frames a second is too fast, the level allows "
                + "\(maximumFrameRate(for: dimensions)); encode a smaller picture or fewer frames"
        }
        return nil
    }

    private static func macroblocks(_ dimensions: VideoDimensions) -> Int {
        ((dimensions.width + 15) / 16) * ((dimensions.height + 15) / 16)
    }
}

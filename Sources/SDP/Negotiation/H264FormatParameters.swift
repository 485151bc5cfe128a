public import MediaCore

/// The format parameters of an H.264 payload type (RFC 6184, 8.1) that matter to us.
public struct H264FormatParameters: Hashable, Sendable {
    /// Profile and level; nil if the description does not state them. The RFC then infers
    /// `H264ProfileLevelID.inferred`.
    public var profileLevelID: H264ProfileLevelID?
    /// 0: single NAL units only; 1: also STAP-A and FU-A; 2: interleaved.
    public var packetizationMode: UInt8
    /// True if each direction may have a level of its own.
    public var levelAsymmetryAllowed: Bool
    /// `max-fs`: the largest frame that the receiver decodes, in macroblocks, if it exceeds the level's limit.
    public var maximumFrameSize: Int?
    /// `max-mbps`: the most macroblocks a second, if they exceed the level's limit.
    public var maximumMacroblockRate: Int?
    /// `max-br`: the highest bitrate, in the units of the level's limit, if it exceeds that.
    public var maximumBitRateUnits: Int?
    /// `sprop-parameter-sets`: NAL units with the SPS and PPS at the beginning of the describing side's stream. They
    /// are only read: our streams have their parameter sets before every IDR picture.
    public var parameterSets: [[UInt8]]

    public init(
        profileLevelID: H264ProfileLevelID?, packetizationMode: UInt8 = 1, levelAsymmetryAllowed: Bool = true,
        maximumFrameSize: Int? = nil, maximumMacroblockRate: Int? = nil, maximumBitRateUnits: Int? = nil,
        parameterSets: [[UInt8]] = []
    ) {
        self.profileLevelID = profileLevelID
        self.packetizationMode = packetizationMode
        self.levelAsymmetryAllowed = levelAsymmetryAllowed
        self.maximumFrameSize = maximumFrameSize
        self.maximumMacroblockRate = maximumMacroblockRate
        self.maximumBitRateUnits = maximumBitRateUnits
        self.parameterSets = parameterSets
    }
}

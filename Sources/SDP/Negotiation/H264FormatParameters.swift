/// The format parameters of an H.264 payload type (RFC 6184, 8.1) that matter to us.
public struct H264FormatParameters: Hashable, Sendable {
    /// Profile and level; nil where the description does not say. By the RFC that is `H264ProfileLevelID.inferred`.
    public var profileLevelID: H264ProfileLevelID?
    /// 0: single NAL units only; 1: also STAP-A and FU-A; 2: interleaved.
    public var packetizationMode: UInt8
    /// Whether each direction may have a level of its own.
    public var levelAsymmetryAllowed: Bool
    /// `max-fs`: the largest frame that the receiver decodes, in macroblocks, where that is more than its level says.
    public var maximumFrameSize: Int?
    /// `max-mbps`: the most macroblocks a second, where that is more than the level says.
    public var maximumMacroblockRate: Int?
    /// `sprop-parameter-sets`: NAL units with the SPS and PPS that the describing side's stream begins with. Read only:
    /// what we send has its parameter sets before every IDR picture.
    public var parameterSets: [[UInt8]]

    public init(
        profileLevelID: H264ProfileLevelID?, packetizationMode: UInt8 = 1, levelAsymmetryAllowed: Bool = true,
        maximumFrameSize: Int? = nil, maximumMacroblockRate: Int? = nil, parameterSets: [[UInt8]] = []
    ) {
        self.profileLevelID = profileLevelID
        self.packetizationMode = packetizationMode
        self.levelAsymmetryAllowed = levelAsymmetryAllowed
        self.maximumFrameSize = maximumFrameSize
        self.maximumMacroblockRate = maximumMacroblockRate
        self.parameterSets = parameterSets
    }
}

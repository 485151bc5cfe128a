internal import MediaCore
import SecureTransport

extension H264FormatParameters {
    private static let numbers = 0...Int(Int32.max)

    init(_ parameters: FormatParameters) throws(SDPError) {
        var identifier: H264ProfileLevelID?
        if let text = parameters.values["profile-level-id"] {
            guard let parsed = H264ProfileLevelID(text) else {
                throw .malformed(
                    line: parameters.line,
                    reason: "profile-level-id '\(text.excerpt)' is not six hexadecimal digits")
            }
            identifier = parsed
        }
        self.init(
            profileLevelID: identifier,
            packetizationMode: UInt8(try parameters.integer("packetization-mode", in: 0...2) ?? 0),
            levelAsymmetryAllowed: try parameters.flag("level-asymmetry-allowed"),
            maximumFrameSize: try parameters.integer("max-fs", in: Self.numbers),
            maximumMacroblockRate: try parameters.integer("max-mbps", in: Self.numbers),
            maximumBitRateUnits: try parameters.integer("max-br", in: Self.numbers),
            parameterSets: Self.parameterSets(parameters.values["sprop-parameter-sets"] ?? ""))
    }

    /// Returns the NAL units of `sprop-parameter-sets`. A set that cannot be read is ignored, and the stream is
    /// accepted: most senders repeat their sets in the stream.
    private static func parameterSets(_ text: String) -> [[UInt8]] {
        text.split(separator: ",").compactMap { set in
            Base64.decode(Substring(set).trimmed).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// The value of `a=fmtp` after the payload type.
    var sdpValue: String {
        var fields: [String] = []
        if let profileLevelID { fields.append("profile-level-id=\(profileLevelID)") }
        if levelAsymmetryAllowed { fields.append("level-asymmetry-allowed=1") }
        fields.append("packetization-mode=\(packetizationMode)")
        if let maximumFrameSize { fields.append("max-fs=\(maximumFrameSize)") }
        if let maximumMacroblockRate { fields.append("max-mbps=\(maximumMacroblockRate)") }
        if let maximumBitRateUnits { fields.append("max-br=\(maximumBitRateUnits)") }
        return fields.joined(separator: ";")
    }

    /// The profile; without one, the profile that the RFC infers.
    var profile: H264Profile? { (profileLevelID ?? .inferred).profile }

    /// Returns the answer to these parameters (RFC 6184, 8.2.2): profile and packetization mode are the offer's. The
    /// level is limited by the offer's level, unless both sides allow each direction its own level.
    func answer(maximumReceiveLevel: H264ProfileLevelID.Level, maximumSendLevel: H264ProfileLevelID.Level)
        -> H264FormatParameters
    {
        var answer = self
        answer.maximumFrameSize = nil
        answer.maximumMacroblockRate = nil
        answer.maximumBitRateUnits = nil
        answer.parameterSets = []
        if let offered = profileLevelID {
            answer.profileLevelID?.level =
                levelAsymmetryAllowed
                ? maximumReceiveLevel : min(offered.level, maximumReceiveLevel, maximumSendLevel)
        }
        return answer
    }

    /// Returns these parameters of the remote side, with the level lowered to the highest one that this side sends.
    func limited(to level: H264ProfileLevelID.Level) -> H264FormatParameters {
        var limited = self
        if let own = profileLevelID { limited.profileLevelID?.level = min(own.level, level) }
        return limited
    }
}

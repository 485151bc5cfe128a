internal import MediaCore

extension OpusFormatParameters {
    /// The allowed values of `maxaveragebitrate`, in bits per second (RFC 7587, 6.1).
    private static let bitRates = 6_000...510_000

    init(_ parameters: FormatParameters, media: MediaDescription) throws(SDPError) {
        // A rate outside the bounds is clamped: the parameter is a hint.
        let rate = try parameters.integer("maxaveragebitrate", in: 0...Int(Int32.max)).map {
            BitRate(bitsPerSecond: Int64(min(max($0, Self.bitRates.lowerBound), Self.bitRates.upperBound)))
        }
        self.init(
            stereo: try parameters.flag("stereo"), usesInbandFEC: try parameters.flag("useinbandfec"),
            usesDTX: try parameters.flag("usedtx"), constantBitRate: try parameters.flag("cbr"),
            maximumAverageBitRate: rate,
            maximumPlaybackRate: try parameters.integer("maxplaybackrate", in: 8_000...48_000),
            packetTime: try media.packetTime("ptime"), maximumPacketTime: try media.packetTime("maxptime"))
    }

    /// The value of `a=fmtp` after the payload type; nil if it would be empty.
    var sdpValue: String? {
        var fields: [String] = []
        if usesInbandFEC { fields.append("useinbandfec=1") }
        if stereo { fields.append("stereo=1") }
        if usesDTX { fields.append("usedtx=1") }
        if constantBitRate { fields.append("cbr=1") }
        if let maximumAverageBitRate { fields.append("maxaveragebitrate=\(maximumAverageBitRate.bitsPerSecond)") }
        if let maximumPlaybackRate { fields.append("maxplaybackrate=\(maximumPlaybackRate)") }
        return fields.isEmpty ? nil : fields.joined(separator: ";")
    }

    /// `a=ptime` and `a=maxptime`.
    var packetTimeAttributes: [SDPAttribute] {
        var attributes: [SDPAttribute] = []
        if let packetTime { attributes.append(SDPAttribute("ptime", "\(packetTime.wholeMilliseconds)")) }
        if let maximumPacketTime {
            attributes.append(SDPAttribute("maxptime", "\(maximumPacketTime.wholeMilliseconds)"))
        }
        return attributes
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 { nanoseconds / 1_000_000 }
}

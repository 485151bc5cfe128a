/// The codec of a payload type: `a=rtpmap:96 H264/90000` (RFC 8866, 6.6).
public struct RTPMap: Hashable, Sendable, CustomStringConvertible {
    public var payloadType: UInt8
    /// The codec's name; compared without case.
    public var encodingName: String
    /// Ticks of the RTP timestamp per second.
    public var clockRate: Int32
    /// The number of audio channels; nil if the attribute does not state it, which means one.
    public var channels: Int?

    public init(payloadType: UInt8, encodingName: String, clockRate: Int32, channels: Int? = nil) {
        self.payloadType = payloadType
        self.encodingName = encodingName
        self.clockRate = clockRate
        self.channels = channels
    }

    /// Reads the attribute's value.
    init(parsing attribute: SDPAttribute) throws(SDPError) {
        let words = Substring(attribute.value ?? "").words
        guard words.count == 2, let payloadType = UInt8(payloadType: words[0]) else {
            throw attribute.error("expected 'a=rtpmap:<payload type> <name>/<clock rate>'")
        }
        let parts = words[1].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard (2...3).contains(parts.count), !parts[0].isEmpty, parts[1].isDecimal, let clockRate = Int32(parts[1]),
            clockRate > 0
        else { throw attribute.error("'\(words[1].excerpt)' is not '<name>/<clock rate>'") }
        self.init(payloadType: payloadType, encodingName: String(parts[0]), clockRate: clockRate)
        if parts.count == 3 { channels = parts[2].isDecimal ? Int(parts[2]) : nil }
    }

    /// Returns true if this is the codec `name` with this clock rate.
    func matches(_ name: String, clockRate: Int32) -> Bool {
        self.clockRate == clockRate && encodingName.lowercased() == name.lowercased()
    }

    /// The attribute's value.
    public var description: String {
        "\(payloadType) \(encodingName)/\(clockRate)" + (channels.map { "/\($0)" } ?? "")
    }
}

extension UInt8 {
    /// Parses a payload type, 0 to 127, in decimal digits.
    init?(payloadType text: some StringProtocol) {
        guard text.isDecimal, let value = UInt8(text), value < 128 else { return nil }
        self = value
    }
}

extension SDPAttribute {
    func error(_ reason: String) -> SDPError { .malformed(line: line, reason: reason) }
}

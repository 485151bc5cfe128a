public import SecureTransport

// a=candidate (RFC 8839, section 5.1):
// <foundation> <component> <transport> <priority> <address> <port> typ <type> [raddr <address>] [rport <port>]
// and any number of pairs of a name and a value.
extension ICECandidate {
    /// The longest text that is parsed, in bytes.
    static let maximumTextLength = 512

    /// Parses the value of `a=candidate`, with or without `candidate:` before it. The interfaces of browsers write the
    /// prefix.
    /// - Returns: nil for a candidate that is well-formed but of no use here: TCP (RFC 6544), a host name (such as one
    ///   of multicast DNS), or an unknown type.
    public static func parse(_ text: some StringProtocol) throws(ICECandidateError) -> ICECandidate? {
        guard text.utf8.count <= maximumTextLength else {
            throw ICECandidateError(reason: "has more than \(maximumTextLength) bytes")
        }
        var value = Substring(text)
        if value.hasPrefix("candidate:") { value = value.dropFirst("candidate:".count) }
        let words = value.words
        guard words.count >= 8, words[6] == "typ" else {
            throw ICECandidateError(
                reason: "is '<foundation> <component> <transport> <priority> <address> <port> typ <type>', "
                    + "not '\(value.excerpt)'")
        }
        guard (1...32).contains(words[0].utf8.count), words[0].isICECharacters else {
            throw ICECandidateError(reason: "has the foundation '\(words[0].excerpt)': 1 to 32 letters and digits")
        }
        guard words[1].isDecimal, let component = UInt16(words[1]), (1...256).contains(component) else {
            throw ICECandidateError(reason: "has the component '\(words[1].excerpt)': 1 to 256")
        }
        guard words[3].isDecimal, let priority = UInt32(words[3]) else {
            throw ICECandidateError(reason: "has the priority '\(words[3].excerpt)', which is no number of 32 bits")
        }
        guard words[5].isDecimal, let port = UInt16(words[5]) else {
            throw ICECandidateError(reason: "has the port '\(words[5].excerpt)'")
        }
        guard words[2].lowercased() == "udp", let kind = Kind(rawValue: String(words[7])), port != 0,
            let address = TransportAddress(host: String(words[4]), port: port)
        else { return nil }
        return ICECandidate(
            foundation: String(words[0]), component: component, priority: priority, address: address.unmapped,
            kind: kind)
    }

    /// The value of `a=candidate`. The grammar demands a related address for types other than host; we hide ours behind
    /// 0.0.0.0 or ::, port 9 (RFC 8839, section 5.1).
    public var sdpValue: String {
        let text = "\(foundation) \(component) udp \(priority) \(address.host) \(address.port) typ \(kind.rawValue)"
        return kind == .host ? text : text + " raddr \(address.isIPv6 ? "::" : "0.0.0.0") rport 9"
    }
}

/// An error in the text of an ICE candidate.
public struct ICECandidateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, as part of a sentence.
    public var reason: String

    public var description: String { "a candidate \(reason)" }
}

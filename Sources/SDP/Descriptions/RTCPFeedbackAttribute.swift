/// `a=rtcp-fb:96 nack pli` (RFC 4585, 4.2).
public struct RTCPFeedbackAttribute: Hashable, Sendable {
    /// The payload type that the feedback is for; nil for `*`, all payload types.
    public var payloadType: UInt8?
    /// The feedback's type and parameter with one space between them: `nack`, `nack pli`, `ccm fir`, `transport-cc`.
    public var feedback: String

    public init(payloadType: UInt8?, feedback: String) {
        self.payloadType = payloadType
        self.feedback = feedback
    }

    /// Reads the attribute's value.
    init(parsing attribute: SDPAttribute) throws(SDPError) {
        let words = Substring(attribute.value ?? "").words
        guard words.count >= 2, words[0] == "*" || UInt8(payloadType: words[0]) != nil else {
            throw attribute.error("expected 'a=rtcp-fb:<payload type or *> <feedback>'")
        }
        self.init(payloadType: UInt8(payloadType: words[0]), feedback: words[1...].joined(separator: " "))
    }
}

extension FeedbackSupport {
    /// Creates the support that a media description states for a payload type.
    init(_ attributes: [RTCPFeedbackAttribute], payloadType: UInt8) {
        let stated = Set(
            attributes.filter { $0.payloadType == nil || $0.payloadType == payloadType }.map(\.feedback))
        self.init(
            nack: stated.contains("nack"), pli: stated.contains("nack pli"), fir: stated.contains("ccm fir"),
            rpsi: stated.contains("nack rpsi"),
            // A parameter may follow: the number of packets a second that the sender can take into account (RFC 5104,
            // 7.1).
            tmmbr: stated.contains { $0 == "ccm tmmbr" || $0.hasPrefix("ccm tmmbr ") },
            transportCC: stated.contains("transport-cc"), remb: stated.contains("goog-remb"))
    }

    var sdpNames: [String] {
        let names = [
            (nack, "nack"), (pli, "nack pli"), (fir, "ccm fir"), (rpsi, "nack rpsi"), (tmmbr, "ccm tmmbr"),
            (transportCC, "transport-cc"), (remb, "goog-remb"),
        ]
        return names.filter(\.0).map(\.1)
    }
}

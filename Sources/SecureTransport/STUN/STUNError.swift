/// The reason for which a datagram is no STUN message that ICE accepts.
public enum STUNError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Shorter than a header, or larger than `STUNMessage.maximumSize`.
    case unacceptableSize(byteCount: Int)
    /// The two upper bits or the magic cookie are not STUN's (RFC 8489, section 5).
    case notSTUN
    /// The header's length differs from that of the rest.
    case wrongLength
    /// An attribute reaches over the end, or its value has a size or a form that its type does not allow.
    case malformedAttribute(type: UInt16)
    /// The FINGERPRINT is not that of the message.
    case wrongFingerprint
    /// ICE asks for a FINGERPRINT in each message (RFC 8445, section 7.1), and there is none.
    case missingFingerprint

    public var description: String {
        switch self {
        case .unacceptableSize(let byteCount):
            "\(byteCount) bytes: a STUN message has \(STUNMessage.headerSize) to \(STUNMessage.maximumSize) here"
        case .notSTUN: "the first bytes are not those of a STUN message"
        case .wrongLength: "the header's length is not that of the message"
        case .malformedAttribute(let type): "attribute 0x\(String(type, radix: 16)) is malformed"
        case .wrongFingerprint: "the FINGERPRINT does not fit the message: it was damaged, or it is not STUN"
        case .missingFingerprint: "the FINGERPRINT that ICE asks for is missing"
        }
    }
}

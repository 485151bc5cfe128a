/// The reason for which bytes from the network are no RTP or RTCP packet.
public enum RTPError: Error, Hashable, Sendable {
    /// The bytes end before `structure` does.
    case truncated(structure: String, needed: Int, available: Int)
    /// The version field is not 2 (RFC 3550 5.1).
    case unsupportedVersion(UInt8)
    /// The padding count in the last byte is zero or larger than the available bytes.
    case invalidPadding(count: Int, available: Int)
    /// A field of `structure` has a value that its specification excludes.
    case malformed(structure: String, reason: String)
}

extension RTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let structure, let needed, let available):
            "\(structure) is cut short: it needs \(needed) bytes and \(available) are left; drop the packet"
        case .unsupportedVersion(let version):
            "the packet says version \(version), RTP is version 2: drop it, it is another protocol or was damaged"
        case .invalidPadding(let count, let available):
            "the padding count is \(count), it must be 1 to \(available): drop the packet"
        case .malformed(let structure, let reason):
            "\(structure) is malformed: \(reason); drop the packet"
        }
    }
}

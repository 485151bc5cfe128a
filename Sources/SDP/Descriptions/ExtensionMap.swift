/// `a=extmap:3/sendonly <URI>` (RFC 8285, section 8).
public struct ExtensionMap: Hashable, Sendable {
    /// The local identifier: 1 to 14, 16 to 255 with two-byte headers, or 4096 to 4351 for an identifier that the
    /// answer chooses.
    public var id: UInt16
    /// The direction in which the extension is used; nil if it is the direction of the media.
    public var direction: MediaDirection?
    public var uri: String

    public init(id: UInt16, direction: MediaDirection? = nil, uri: String) {
        self.id = id
        self.direction = direction
        self.uri = uri
    }

    /// Reads the attribute's value and ignores the text after the URI.
    init(parsing attribute: SDPAttribute) throws(SDPError) {
        let words = Substring(attribute.value ?? "").words
        guard words.count >= 2 else { throw attribute.error("expected 'a=extmap:<id> <URI>'") }
        let (idText, directionText) = words[0].divided(at: "/") ?? (words[0], "sendrecv")
        guard idText.isDecimal, let id = UInt16(idText), id > 0 else {
            throw attribute.error("header extension identifier '\(idText.excerpt)' is not a positive number")
        }
        guard let direction = MediaDirection(rawValue: String(directionText)) else {
            throw attribute.error("'\(directionText.excerpt)' is not a direction")
        }
        self.init(id: id, direction: direction == .sendAndReceive ? nil : direction, uri: String(words[1]))
    }

    /// The identifier; nil if packets cannot carry it.
    var packetID: UInt8? { (1...14).contains(id) || (16...255).contains(id) ? UInt8(truncatingIfNeeded: id) : nil }

    var attribute: SDPAttribute {
        SDPAttribute("extmap", "\(id)" + (direction.map { "/\($0.rawValue)" } ?? "") + " \(uri)")
    }
}

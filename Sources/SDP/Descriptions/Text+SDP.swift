// Text operations that the grammars of SDP need. All work on UTF-8, because to Swift CRLF is one character.

extension Substring {
    /// The text without the spaces and tabs at its ends.
    var trimmed: Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = utf8.firstIndex { !isBlank($0) } ?? endIndex
        let end = utf8.lastIndex { !isBlank($0) }.map { utf8.index(after: $0) } ?? start
        return Substring(utf8[start..<end])
    }

    /// The parts between spaces, without empty parts.
    var words: [Substring] {
        utf8.split(separator: UInt8(ascii: " ")).map { Substring($0) }
    }

    /// Returns the parts before and after the first `separator`; nil if there is none.
    func divided(at separator: Character) -> (Substring, Substring)? {
        guard let byte = separator.asciiValue, let index = utf8.firstIndex(of: byte) else { return nil }
        return (Substring(utf8[..<index]), Substring(utf8[utf8.index(after: index)...]))
    }
}

extension StringProtocol {
    /// True if this is one or more decimal digits and nothing else.
    var isDecimal: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The beginning of the text, short and printable, for an error message.
    var excerpt: String {
        let printable = unicodeScalars.prefix(40).map { $0.value >= 0x20 && $0.value != 0x7F ? Character($0) : "?" }
        return String(printable) + (unicodeScalars.dropFirst(40).isEmpty ? "" : "…")
    }
}

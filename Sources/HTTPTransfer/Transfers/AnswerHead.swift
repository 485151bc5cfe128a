/// Reads an answer's head from its lines, as libcurl hands them out.
struct AnswerHead {
    enum Progress: Hashable {
        case more
        /// The head is complete; one of a status below 200 is not counted.
        case complete
        case tooLong
    }

    /// The most bytes of all lines: heads before the answer's own and trailers too.
    static let capacity = 64 << 10

    private(set) var fields: [HTTPClient.Field] = []
    private(set) var isComplete = false
    private var size = 0

    /// - Parameter status: What the server has answered as far as it is known.
    mutating func append(_ line: some Collection<UInt8>, status: Int) -> Progress {
        size += line.count
        guard size <= Self.capacity else { return .tooLong }
        // A trailer.
        guard !isComplete else { return .more }
        let text = String(decoding: line, as: UTF8.self)
        // The rest of a folded field (RFC 9112, 5.2), which no server sends any more.
        guard !text.hasPrefix(" "), !text.hasPrefix("\t") else { return .more }
        if text.hasPrefix("HTTP/") {
            fields = []
        } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
            let name = text[..<colon]
            fields.append(
                HTTPClient.Field(name: Self.trimmed(name), value: Self.trimmed(text[text.utf8.index(after: colon)...])))
        } else if Self.trimmed(text[...]).isEmpty, status >= 200 {
            isComplete = true
            return .complete
        }
        return .more
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character.isWhitespace }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}

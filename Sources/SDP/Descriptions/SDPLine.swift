/// A line of a session description, taken apart into its type letter and its value.
struct SDPLine {
    var type: Character
    var value: Substring
    /// The line's number, from 1.
    var number: Int

    init(_ text: Substring, number: Int) throws(SDPError) {
        let bytes = text.utf8
        guard let first = bytes.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            bytes.dropFirst().first == UInt8(ascii: "=")
        else {
            throw .malformed(
                line: number, reason: "'\(text.excerpt)' is not a lower-case letter followed by '='")
        }
        type = Character(Unicode.Scalar(first))
        value = Substring(bytes.dropFirst(2))
        self.number = number
    }

    func error(_ reason: String) -> SDPError { .malformed(line: number, reason: reason) }

    /// The value's words, with spaces between them.
    var words: [Substring] { value.words }
}

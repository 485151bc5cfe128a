/// Escapes text for XML and HTML.
public enum XMLText {
    /// Returns the text as it stands between tags and in attributes (XML 1.0, sections 2.2 and 2.4). A scalar that XML
    /// does not allow becomes U+FFFD.
    public static func escaped(_ text: some StringProtocol) -> String {
        var result = ""
        result.reserveCapacity(text.utf8.count)
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // XML allows no other control characters.
            case "\u{0}"..<"\u{20}" where !["\t", "\n", "\r"].contains(character): result += "\u{FFFD}"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

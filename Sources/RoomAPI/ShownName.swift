/// Names that people give to outputs and players.
public enum ShownName {
    /// The longest name, in bytes of UTF-8.
    static let longest = 64

    /// The beginning of a text as such a name: what would change how text is shown is replaced.
    public static func made(of text: String) -> String {
        var name = String.UnicodeScalarView()
        var size = 0
        for scalar in text.unicodeScalars {
            let shown = scalar.properties.generalCategory.isControl ? "\u{FFFD}" : scalar
            size += UTF8.width(shown)
            guard size <= longest else { break }
            name.append(shown)
        }
        return String(name)
    }
}

extension KeyedDecodingContainer {
    /// A name that can be shown; nil if there is none.
    func decodeShownName(forKey key: Key) throws -> String? {
        guard let name = try decodeIfPresent(String.self, forKey: key) else { return nil }
        let isShown = name.unicodeScalars.allSatisfy { !$0.properties.generalCategory.isControl }
        guard (1...ShownName.longest).contains(name.utf8.count), isShown else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription:
                    "\"\(key.stringValue)\" must have 1 to \(ShownName.longest) bytes, and no control characters")
        }
        return name
    }
}

extension Unicode.GeneralCategory {
    /// True if a character of this kind changes how text is shown, in place of being shown.
    fileprivate var isControl: Bool { [.control, .format, .lineSeparator, .paragraphSeparator].contains(self) }
}

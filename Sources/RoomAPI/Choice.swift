extension KeyedDecodingContainer {
    /// Decodes one of the words of a field that takes few; nil if it is missing or null.
    ///
    /// - Throws: `DecodingError` with the words, which the decoder itself does not tell.
    func decodeChoice<Choice: RawRepresentable<String> & CaseIterable>(forKey key: Key) throws -> Choice? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: " or ")
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\"\(key.stringValue)\" is \"\(text)\"; use \(known)")
        }
        return choice
    }
}

extension String {
    /// Letters and digits that are not mistaken for each other when they are read out: no l, o, 0 and 1.
    private static let idCharacters = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// Makes an id of this many random letters and digits.
    package static func randomID(length: Int, using generator: inout some RandomNumberGenerator) -> String {
        String((0..<length).map { _ in idCharacters[Int.random(in: 0..<idCharacters.count, using: &generator)] })
    }
}

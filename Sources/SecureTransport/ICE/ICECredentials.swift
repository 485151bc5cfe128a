/// The username fragment and password with which one side's connectivity checks are told from others'
/// (RFC 8445, section 5.3; `a=ice-ufrag` and `a=ice-pwd` of RFC 8839, section 5.4).
public struct ICECredentials: Hashable, Sendable {
    /// 4 to 256 characters of RFC 8839's `ice-char`.
    public var usernameFragment: String
    /// 22 to 256 characters of RFC 8839's `ice-char`.
    public var password: String

    public init(usernameFragment: String, password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }

    /// New credentials: 48 bits of fragment, by which a relay finds the session, and 144 bits of password.
    /// - Parameter generator: Outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        func characters(_ count: Int) -> String {
            String((0..<count).map { _ in Self.alphabet[Int.random(in: 0..<Self.alphabet.count, using: &generator)] })
        }
        self.init(usernameFragment: characters(8), password: characters(24))
    }

    /// The `ice-char`s, of which there are 64: a character is worth six bits.
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

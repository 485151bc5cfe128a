/// The username fragment and password that identify one side's connectivity checks (RFC 8445, section 5.3;
/// `a=ice-ufrag` and `a=ice-pwd` of RFC 8839, section 5.4).
public struct ICECredentials: Hashable, Sendable {
    /// The username fragment: 4 to 256 characters of RFC 8839's `ice-char`.
    public var usernameFragment: String
    /// The password: 22 to 256 characters of RFC 8839's `ice-char`.
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

    /// The 64 `ice-char`s: each character carries six bits.
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}

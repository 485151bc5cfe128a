import Cluster
import Foundation
public import RoomAPI
import SecureTransport

/// Keys that tokens are signed with, from a file in the format of RFC 7517 (JSON Web Key Set).
public struct AccessKeys: Sendable {
    /// The signature algorithms of tokens.
    public enum Algorithm: String, Codable, CaseIterable, Sendable {
        /// HMAC with SHA-256: a program that can check tokens can make them.
        case hs256 = "HS256"
        /// ECDSA with P-256 and SHA-256.
        case es256 = "ES256"
        /// Ed25519.
        case edDSA = "EdDSA"
    }

    /// The reason for which keys or tokens cannot be used.
    public struct Failure: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    /// One key of a file (RFC 7517, RFC 7518, RFC 8037). Without `d` it only checks tokens.
    public struct Key: Codable, Sendable {
        var kty: String
        var kid: String
        var alg: Algorithm?
        var crv: String?
        var k: String?
        var x: String?
        var y: String?
        var d: String?
    }

    private struct File: Codable {
        var keys: [Key]
    }

    /// A key that was read. It is for one algorithm.
    private enum Entry: Sendable {
        case secret(KeyedHash)
        case signature(SignatureKey)

        var algorithm: Algorithm {
            switch self {
            case .secret: .hs256
            case .signature(let key):
                switch key.kind {
                case .p256: .es256
                case .ed25519: .edDSA
                }
            }
        }

        var canSign: Bool {
            switch self {
            case .secret: true
            case .signature(let key): key.secret != nil
            }
        }

        /// Nil if the key only checks.
        func signature(of message: [UInt8]) -> [UInt8]? {
            switch self {
            case .secret(let hash): hash.code(of: message)
            case .signature(let key): key.signature(of: message)
            }
        }

        func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
            switch self {
            case .secret(let hash): hash.code(of: message).map { SecretComparison.areEqual($0, signature) } ?? false
            case .signature(let key): key.isSignature(signature, of: message)
            }
        }
    }

    private let entries: [String: Entry]
    /// The first key that can sign.
    private let signingKey: String?

    private static let maximumKeys = 64
    /// Bytes of an HMAC key (RFC 7518, section 3.2).
    private static let minimumSecret = 32

    /// Reads a file's text.
    public init(parsing text: String) throws(Failure) {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: Data(text.utf8))
        } catch {
            throw Failure(
                description: "it is no JSON Web Key Set, such as confrelay key makes: each key needs kty, kid and alg")
        }
        guard !file.keys.isEmpty, file.keys.count <= Self.maximumKeys else {
            throw Failure(description: "it must hold 1 to \(Self.maximumKeys) keys")
        }
        var entries: [String: Entry] = [:]
        for key in file.keys {
            guard entries[key.kid] == nil, !key.kid.isEmpty else {
                throw Failure(description: "each key needs a kid of its own, and '\(key.kid)' is none")
            }
            entries[key.kid] = try Self.entry(key)
        }
        self.entries = entries
        signingKey = file.keys.first { entries[$0.kid]?.canSign ?? false }?.kid
    }

    /// Reads a file.
    public init(file path: String) throws(Failure) {
        let text: String
        do {
            text = try TextFile.text(of: path)
        } catch {
            throw Failure(description: error.reason)
        }
        try self.init(parsing: text)
    }

    private static func entry(_ key: Key) throws(Failure) -> Entry {
        func signature(_ kind: SignatureKey.Kind, publicKey parts: [String?]) throws(Failure) -> Entry {
            let signatureKey =
                if let secret = key.d {
                    Base64URL.decode(secret).flatMap { SignatureKey(kind, secret: $0) }
                } else {
                    SignatureKey(kind, publicKey: parts.flatMap { $0.flatMap(Base64URL.decode) ?? [] })
                }
            guard let signatureKey else { throw Failure(description: "the key '\(key.kid)' is malformed") }
            return .signature(signatureKey)
        }
        switch (key.kty, key.crv, key.alg) {
        case ("oct", nil, .hs256), ("oct", nil, nil):
            guard let bytes = key.k.flatMap(Base64URL.decode), bytes.count >= minimumSecret else {
                throw Failure(
                    description:
                        "the key '\(key.kid)' needs k, a secret of \(minimumSecret) bytes at least, in Base64 for URLs "
                        + "without padding")
            }
            return .secret(KeyedHash(key: bytes))
        case ("EC", "P-256", .es256), ("EC", "P-256", nil): return try signature(.p256, publicKey: [key.x, key.y])
        case ("OKP", "Ed25519", .edDSA), ("OKP", "Ed25519", nil): return try signature(.ed25519, publicKey: [key.x])
        default:
            throw Failure(
                description:
                    "the key '\(key.kid)' is of no kind that is taken: use oct with HS256, EC P-256 with ES256, "
                    + "or OKP Ed25519 with EdDSA")
        }
    }

    // MARK: Tokens

    /// Longest token that is read; those of `confrelay token` have a quarter of that. Its claims, which it has in
    /// Base64, go along in a ticket to another relay.
    static let maximumTokenLength = ClusterSecret.maximumGrantSize / 3 * 4

    /// The header of a token, which describes its signature (RFC 7515, section 4.1).
    private struct Header: Codable {
        var alg: String
        var typ: String?
        var kid: String?
        /// Extensions that a reader must know; none is known here.
        var crit: [String]?
    }

    /// Checks a token's signature, and not yet its claims: `AccessControl` does, so that its errors are exact.
    ///
    /// - Returns: Nil if no key of ours signed it, or its claims are none that are known.
    func claims(of token: String) -> AccessClaims? {
        guard token.utf8.count <= Self.maximumTokenLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let fields = try? JSONDecoder().decode(Header.self, from: Data(header)), fields.crit == nil,
            // A key is for one algorithm: the token does not choose how it is checked.
            let kid = fields.kid ?? (entries.count == 1 ? entries.keys.first : nil),
            let entry = entries[kid], entry.algorithm.rawValue == fields.alg,
            entry.isSignature(signature, of: Array(token[..<parts[1].endIndex].utf8))
        else { return nil }
        return try? JSONDecoder().decode(AccessClaims.self, from: Data(claims))
    }

    /// Makes a token.
    ///
    /// - Parameter key: The key's id; nil: the first that can sign.
    public func sign(_ claims: AccessClaims, key: String? = nil) throws(Failure) -> String {
        guard let kid = key ?? signingKey, let entry = entries[kid], entry.canSign else {
            throw Failure(
                description: key.map { "there is no key '\($0)' that can sign" }
                    ?? "none of the keys can sign: they are public")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let header = try? encoder.encode(Header(alg: entry.algorithm.rawValue, typ: "JWT", kid: kid)),
            let claims = try? encoder.encode(claims)
        else { throw Failure(description: "the claims cannot be written as JSON") }
        let message = "\(Base64URL.encode(Array(header))).\(Base64URL.encode(Array(claims)))"
        guard let signature = entry.signature(of: Array(message.utf8)) else {
            throw Failure(description: "the key '\(kid)' could not sign the token")
        }
        return "\(message).\(Base64URL.encode(signature))"
    }

    // MARK: Making keys

    /// The text of a file with one new key.
    public static func newFile(_ algorithm: Algorithm, id: String) throws(Failure) -> String {
        var key = Key(kty: "oct", kid: id, alg: algorithm)
        switch algorithm {
        case .hs256:
            var generator = SystemRandomNumberGenerator()
            key.k = Base64URL.encode((0..<minimumSecret).map { _ in .random(in: 0...255, using: &generator) })
        case .es256:
            let (secret, publicKey) = try newKey(.p256)
            key.kty = "EC"
            key.crv = "P-256"
            key.x = Base64URL.encode(Array(publicKey.prefix(32)))
            key.y = Base64URL.encode(Array(publicKey.suffix(32)))
            key.d = Base64URL.encode(secret)
        case .edDSA:
            let (secret, publicKey) = try newKey(.ed25519)
            key.kty = "OKP"
            key.crv = "Ed25519"
            key.x = Base64URL.encode(publicKey)
            key.d = Base64URL.encode(secret)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let file = try? encoder.encode(File(keys: [key])) else {
            throw Failure(description: "the key cannot be written as JSON")
        }
        return String(decoding: file, as: UTF8.self) + "\n"
    }

    private static func newKey(_ kind: SignatureKey.Kind) throws(Failure) -> (secret: [UInt8], publicKey: [UInt8]) {
        guard let key = SignatureKey(making: kind), let secret = key.secret else {
            throw Failure(description: "OpenSSL makes no such key")
        }
        return (secret, key.publicKey)
    }
}

/// Base 64 with the alphabet for URLs and without padding (RFC 4648, section 5).
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Nil unless the text is what `encode` makes of some bytes.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        return Base64.decode(String(text).replacing("-", with: "+").replacing("_", with: "/"))
    }
}

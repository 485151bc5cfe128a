import Crypto
import Foundation
import JWTKit
public import RoomAPI

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

    private struct Entry: Sendable {
        var algorithm: Algorithm
        var canSign: Bool
    }

    private let collection: JWTKeyCollection
    private let entries: [String: Entry]
    /// The first key that can sign.
    private let signingKey: String?

    private static let maximumKeys = 64
    /// Bytes of an HMAC key (RFC 7518, section 3.2).
    private static let minimumSecret = 32

    /// Reads a file's text.
    public init(parsing text: String) async throws(Failure) {
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
        let collection = JWTKeyCollection()
        var entries: [String: Entry] = [:]
        for key in file.keys {
            guard entries[key.kid] == nil, !key.kid.isEmpty else {
                throw Failure(description: "each key needs a kid of its own, and '\(key.kid)' is none")
            }
            entries[key.kid] = try await Self.add(key, to: collection)
        }
        self.collection = collection
        self.entries = entries
        signingKey = file.keys.first { entries[$0.kid]?.canSign ?? false }?.kid
    }

    /// Reads a file.
    public init(file path: String) async throws(Failure) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure(description: "the file is not there, cannot be read or is not text in UTF-8")
        }
        try await self.init(parsing: text)
    }

    private static func add(_ key: Key, to collection: JWTKeyCollection) async throws(Failure) -> Entry {
        let kid = JWKIdentifier(string: key.kid)
        do {
            switch (key.kty, key.crv, key.alg) {
            case ("oct", nil, .hs256), ("oct", nil, nil):
                guard let bytes = key.k.flatMap(Base64URL.decode), bytes.count >= minimumSecret else {
                    throw Failure(
                        description: "the key '\(key.kid)' needs k, a secret of \(minimumSecret) bytes at least")
                }
                await collection.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256, kid: kid)
                return Entry(algorithm: .hs256, canSign: true)
            case ("EC", "P-256", .es256), ("EC", "P-256", nil):
                if let d = key.d {
                    await collection.add(ecdsa: try ES256PrivateKey(key: d), kid: kid)
                } else {
                    await collection.add(ecdsa: try ES256PublicKey(parameters: (key.x ?? "", key.y ?? "")), kid: kid)
                }
                return Entry(algorithm: .es256, canSign: key.d != nil)
            case ("OKP", "Ed25519", .edDSA), ("OKP", "Ed25519", nil):
                if let d = key.d {
                    await collection.add(eddsa: try EdDSA.PrivateKey(d: d, curve: .ed25519), kid: kid)
                } else {
                    await collection.add(eddsa: try EdDSA.PublicKey(x: key.x ?? "", curve: .ed25519), kid: kid)
                }
                return Entry(algorithm: .edDSA, canSign: key.d != nil)
            default:
                throw Failure(
                    description:
                        "the key '\(key.kid)' is of no kind that is taken: use oct with HS256, EC P-256 with ES256, "
                        + "or OKP Ed25519 with EdDSA")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "the key '\(key.kid)' is malformed")
        }
    }

    // MARK: Tokens

    /// Longest token that is read; those of `confrelay token` have a quarter of that.
    static let maximumTokenLength = 4096

    private struct Header: Decodable {
        var alg: String
        var kid: String?
    }

    /// Checks a token's signature, and not yet what it says.
    ///
    /// - Returns: Nil if no key of ours signed it, or it says nothing that is known.
    func claims(of token: String) async -> AccessClaims? {
        guard token.utf8.count <= Self.maximumTokenLength,
            let header = token.split(separator: ".").first.flatMap({ Base64URL.decode(String($0)) }),
            let fields = try? JSONDecoder().decode(Header.self, from: Data(header)),
            // A key is for one algorithm: the token does not choose how it is checked.
            let kid = fields.kid ?? (entries.count == 1 ? entries.keys.first : nil),
            let entry = entries[kid], entry.algorithm.rawValue == fields.alg
        else { return nil }
        return try? await collection.verify(token, as: SignedClaims.self).claims
    }

    /// Makes a token.
    ///
    /// - Parameter key: The key's id; nil: the first that can sign.
    public func sign(_ claims: AccessClaims, key: String? = nil) async throws(Failure) -> String {
        guard let kid = key ?? signingKey, entries[kid]?.canSign ?? false else {
            throw Failure(
                description: key.map { "there is no key '\($0)' that can sign" }
                    ?? "none of the keys can sign: they are public")
        }
        var header = JWTHeader()
        header.alg = entries[kid]?.algorithm.rawValue
        do {
            return try await collection.sign(
                SignedClaims(claims: claims), kid: JWKIdentifier(string: kid), header: header)
        } catch {
            throw Failure(description: "the token could not be signed: \(error)")
        }
    }

    // MARK: Making keys

    /// The text of a file with one new key.
    public static func newFile(_ algorithm: Algorithm, id: String) throws -> String {
        let key: Key
        switch algorithm {
        case .hs256:
            var generator = SystemRandomNumberGenerator()
            let secret = (0..<minimumSecret).map { _ in UInt8.random(in: 0...255, using: &generator) }
            key = Key(kty: "oct", kid: id, alg: .hs256, k: Base64URL.encode(secret))
        case .es256:
            let secret = P256.Signing.PrivateKey()
            let point = Array(secret.publicKey.rawRepresentation)
            key = Key(
                kty: "EC", kid: id, alg: .es256, crv: "P-256", x: Base64URL.encode(point.prefix(32)),
                y: Base64URL.encode(point.suffix(32)), d: Base64URL.encode(secret.rawRepresentation))
        case .edDSA:
            let secret = Curve25519.Signing.PrivateKey()
            key = Key(
                kty: "OKP", kid: id, alg: .edDSA, crv: "Ed25519",
                x: Base64URL.encode(secret.publicKey.rawRepresentation), d: Base64URL.encode(secret.rawRepresentation))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(File(keys: [key])), as: UTF8.self) + "\n"
    }
}

/// A token's claims as they are signed. `AccessControl` checks times and rooms, so that its errors are exact.
private struct SignedClaims: JWTPayload {
    var claims: AccessClaims

    init(claims: AccessClaims) { self.claims = claims }
    init(from decoder: any Decoder) throws { claims = try AccessClaims(from: decoder) }
    func encode(to encoder: any Encoder) throws { try claims.encode(to: encoder) }
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}

/// Base 64 with the alphabet for URLs and without padding (RFC 4648, section 5).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    static func decode(_ text: String) -> [UInt8]? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Data(base64Encoded: plain + padding).map { Array($0) }
    }
}

import Foundation
import SecureTransport

/// Signs what is posted to webhooks, as Standard Webhooks (standardwebhooks.com, version 1.0.0) describes: a receiver
/// knows with the secret that an event is this relay's, and that it is not an old one.
public struct WebhookSigner: Hashable, Sendable {
    /// The reason for which a text has no keys.
    public struct ParseError: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    private struct Key: Hashable {
        var id: String
        var secret: [UInt8]
    }

    private static let shortestSecret = 16
    private static let mostKeys = 4

    private let keys: [Key]

    /// Reads keys from the text of a file: an id and a secret a line, separated by a space; the secret is a text, or,
    /// if it begins with `whsec_`, in base64. Empty lines, and those that begin with `#`, are passed over. With several
    /// keys each request has a signature by each, so that receivers can change from one to the next.
    public init(parsing text: String) throws(ParseError) {
        var keys: [Key] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            // The line may hold a secret, so it is not told.
            func mistake(_ text: String) -> ParseError { ParseError(description: "line \(index + 1): \(text)") }
            guard words.count == 2 else { throw mistake("give an id and a secret, separated by a space") }
            guard first.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), first.utf8.count <= 64, !first.contains(",")
            else { throw mistake("an id has up to 64 visible ASCII characters and no comma") }
            let secret: Data? =
                words[1].hasPrefix("whsec_") ? Data(base64Encoded: String(words[1].dropFirst(6))) : Data(words[1].utf8)
            guard let secret, secret.count >= Self.shortestSecret else {
                throw mistake("a secret has at least \(Self.shortestSecret) bytes: openssl rand -hex 32 makes one")
            }
            keys.append(Key(id: String(first), secret: Array(secret)))
        }
        guard (1...Self.mostKeys).contains(keys.count) else {
            throw ParseError(description: "it must have 1 to \(Self.mostKeys) keys: an id and a secret a line")
        }
        guard Set(keys.map(\.id)).count == keys.count else {
            throw ParseError(description: "each key needs its own id")
        }
        self.keys = keys
    }

    /// The fields that go with a request.
    func fields(id: String, body: [UInt8], at date: Date) -> [(name: String, value: String)] {
        let timestamp = "\(Int64(date.timeIntervalSince1970))"
        let signed = Array("\(id).\(timestamp).".utf8) + body
        let signatures = keys.compactMap { key in
            KeyedHash(key: key.secret).code(of: signed).map { "v1,\(Data($0).base64EncodedString())" }
        }
        return [
            ("webhook-id", id), ("webhook-timestamp", timestamp),
            ("webhook-signature", signatures.joined(separator: " ")),
            ("webhook-key-id", keys.map(\.id).joined(separator: ",")),
        ]
    }
}

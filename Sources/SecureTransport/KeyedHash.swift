internal import COpenSSL

/// A message authentication code of RFC 2104 with SHA-256, under a secret that nobody else has.
public struct KeyedHash: Sendable {
    private let key: [UInt8]

    private static let size = 32

    /// A hash with a secret of its own.
    /// - Parameter generator: Outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        key = (0..<Self.size).map { _ in generator.next() }
    }

    /// The code of a text, 32 bytes; nil when the library refuses.
    public func code(of text: String) -> [UInt8]? {
        let message = Array(text.utf8)
        var length: UInt32 = 0
        let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { code, count in
            let isMade =
                HMAC(
                    EVP_sha256(), key, Int32(truncatingIfNeeded: key.count), message, message.count, code.baseAddress,
                    &length) != nil
            count = isMade ? Int(length) : 0
        }
        return code.count == Self.size ? code : nil
    }
}

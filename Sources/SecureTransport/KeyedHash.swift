internal import COpenSSL

/// A message authentication code of RFC 2104 with SHA-256, under a secret.
public struct KeyedHash: Sendable {
    private let key: [UInt8]

    private static let size = 32

    /// A hash with a secret of its own.
    /// - Parameter generator: Outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        key = (0..<Self.size).map { _ in generator.next() }
    }

    /// A hash with a secret that others have too.
    public init(key: [UInt8]) { self.key = key }

    /// The code of a text, 32 bytes; nil when the library refuses.
    public func code(of text: String) -> [UInt8]? { code(of: Array(text.utf8)) }

    /// The code of bytes, 32 bytes; nil when the library refuses.
    public func code(of message: [UInt8]) -> [UInt8]? {
        code(of: message, by: EVP_sha256(), size: Self.size)
    }

    /// The code of a text with SHA-1 in place of SHA-256, 20 bytes, for protocols that have no other; nil when the
    /// library refuses.
    public func codeWithSHA1(of text: String) -> [UInt8]? { code(of: Array(text.utf8), by: EVP_sha1(), size: 20) }

    private func code(of message: [UInt8], by function: OpaquePointer?, size: Int) -> [UInt8]? {
        var length: UInt32 = 0
        let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { code, count in
            let isMade =
                HMAC(
                    function, key, Int32(truncatingIfNeeded: key.count), message, message.count, code.baseAddress,
                    &length) != nil
            count = isMade ? Int(length) : 0
        }
        return code.count == size ? code : nil
    }
}

internal import COpenSSL

/// Hash functions without a key.
public enum SecureHash {
    private static let size = 32

    /// The SHA-256 digest of bytes (FIPS 180-4): 32 bytes.
    public static func sha256(_ message: some Collection<UInt8>) -> [UInt8] {
        let message = Array(message)
        let digest = [UInt8](unsafeUninitializedCapacity: size) { digest, count in
            count = SHA256(message, message.count, digest.baseAddress) == nil ? 0 : size
        }
        precondition(digest.count == size, "OpenSSL has no SHA-256")
        return digest
    }

    /// A key from a password, slow to compute (scrypt, RFC 7914), with 16 MiB and 32 bytes.
    ///
    /// - Returns: Nil if there is no memory.
    public static func scrypt(_ password: [UInt8], salt: [UInt8]) -> [UInt8]? {
        scrypt(password, salt: salt, rounds: 1 << 14, blockSize: 8, parallelism: 1, size: size)
    }

    static func scrypt(
        _ password: [UInt8], salt: [UInt8], rounds: UInt64, blockSize: UInt64, parallelism: UInt64, size: Int
    ) -> [UInt8]? {
        defer { ERR_clear_error() }
        let key = [UInt8](unsafeUninitializedCapacity: size) { key, count in
            let isMade = password.withUnsafeBufferPointer { password in
                password.withMemoryRebound(to: CChar.self) { password in
                    EVP_PBE_scrypt(
                        password.baseAddress, password.count, salt, salt.count, rounds, blockSize, parallelism, 0,
                        key.baseAddress, size) == 1
                }
            }
            count = isMade ? size : 0
        }
        return key.isEmpty ? nil : key
    }
}

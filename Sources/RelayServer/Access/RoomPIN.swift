import Crypto
import CryptoExtras
import Foundation
import HTTPTypes
import SecureTransport

/// Checks a room's PIN, of which only a slow hash is kept (scrypt, RFC 7914).
///
/// A PIN has few digits. The hash's cost, and the quotas of wrong ones, are what keeps it from being tried out.
actor RoomPIN {
    /// The longest PIN in bytes of UTF-8.
    static let lengths = 4...64

    private static let saltSize = 16
    private static let hashSize = 32

    /// The hash of a PIN, behind its salt.
    func record(of pin: String) throws(Problem) -> [UInt8] {
        guard Self.lengths.contains(pin.utf8.count) else {
            throw Problem(
                .unprocessableContent, "a PIN has \(Self.lengths.lowerBound) to \(Self.lengths.upperBound) bytes")
        }
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return salt + (try Self.hash(pin, salt: salt))
    }

    /// Whether a PIN is the one of a record. One at a time: they cannot take more than one processor together.
    func matches(_ pin: String, record: [UInt8]) throws(Problem) -> Bool {
        guard Self.lengths.contains(pin.utf8.count), record.count == Self.saltSize + Self.hashSize else { return false }
        let hash = try Self.hash(pin, salt: Array(record.prefix(Self.saltSize)))
        return SecretComparison.areEqual(hash, Array(record.suffix(Self.hashSize)))
    }

    /// 16 MiB and some tens of milliseconds.
    private static func hash(_ pin: String, salt: [UInt8]) throws(Problem) -> [UInt8] {
        do {
            let key = try KDF.Scrypt.deriveKey(
                from: Array(pin.utf8), salt: salt, outputByteCount: hashSize, rounds: 1 << 14, blockSize: 8,
                parallelism: 1)
            return key.withUnsafeBytes { Array($0) }
        } catch {
            throw Problem(.internalServerError, "the PIN could not be hashed")
        }
    }
}

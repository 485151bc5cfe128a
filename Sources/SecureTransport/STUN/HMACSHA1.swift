internal import COpenSSL
internal import NIOCore
import Synchronization

/// A key of `HMACSHA1`. The library prepares a key once: that takes five times as long as the code of a message.
final class HMACSHA1Key: Sendable {
    /// An `EVP_MAC_CTX *`. `@unchecked Sendable`: only the holder of the lock uses it.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// Nil when the library refuses the key.
    private let context: Mutex<Context?>

    init(_ bytes: [UInt8]) { context = Mutex(Self.makeContext(bytes)) }

    deinit {
        // OpenSSL wipes the key with its context.
        context.withLock { EVP_MAC_CTX_free($0?.pointer) }
    }

    private static func makeContext(_ key: [UInt8]) -> Context? {
        let function = EVP_MAC_fetch(nil, "HMAC", nil)
        defer { EVP_MAC_free(function) }
        guard let pointer = EVP_MAC_CTX_new(function) else { return nil }
        var digest = Array("SHA1".utf8CString)
        let isReady = digest.withUnsafeMutableBufferPointer { digest in
            let parameters = [
                OSSL_PARAM_construct_utf8_string("digest", digest.baseAddress, 0), OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_init(pointer, key, key.count, parameters) == 1
        }
        guard isReady else {
            EVP_MAC_CTX_free(pointer)
            return nil
        }
        return Context(pointer: pointer)
    }

    /// Writes the code of two parts of a message behind each other.
    /// - Returns: False when the library refuses.
    fileprivate func write(
        codeOf first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, to code: UnsafeMutableRawBufferPointer
    ) -> Bool {
        context.withLock { context in
            guard let context = context?.pointer else { return false }
            var length = 0
            return EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, first.baseAddress, first.count) == 1
                && EVP_MAC_update(context, second.baseAddress, second.count) == 1
                && EVP_MAC_final(context, code.baseAddress, &length, code.count) == 1 && length == HMACSHA1.size
        }
    }
}

/// A message authentication code of RFC 2104 with SHA-1: 20 bytes, held without a heap allocation.
struct HMACSHA1: Sendable {
    static let size = 20

    private var first: UInt64
    private var second: UInt64
    private var last: UInt32

    /// Reads a code from `bytes` at an index from the reader index; nil if they end before it.
    init?(_ bytes: ByteBuffer, at offset: Int) {
        let index = bytes.readerIndex + offset
        guard let first = bytes.getInteger(at: index, as: UInt64.self),
            let second = bytes.getInteger(at: index + 8, as: UInt64.self),
            let last = bytes.getInteger(at: index + 16, as: UInt32.self)
        else { return nil }
        self.first = first
        self.second = second
        self.last = last
    }

    /// The code of a STUN message's first `count` bytes, with another length in its header (RFC 8489, section 14.5:
    /// the length up to the end of MESSAGE-INTEGRITY).
    /// - Returns: nil when there are fewer bytes than that, or the library refuses.
    init?(ofSTUN message: ByteBuffer, upTo count: Int, headerLength: UInt16, key: HMACSHA1Key) {
        guard count >= 4, count <= message.readableBytes else { return nil }
        var code: (UInt64, UInt64, UInt32) = (0, 0, 0)
        let isDone = message.withUnsafeReadableBytes { bytes in
            let start = (bytes[0], bytes[1], UInt8(headerLength >> 8), UInt8(headerLength & 0xFF))
            return withUnsafeBytes(of: start) { start in
                withUnsafeMutableBytes(of: &code) { code in
                    key.write(codeOf: start, UnsafeRawBufferPointer(rebasing: bytes[4..<count]), to: code)
                }
            }
        }
        guard isDone else { return nil }
        first = UInt64(bigEndian: code.0)
        second = UInt64(bigEndian: code.1)
        last = UInt32(bigEndian: code.2)
    }

    /// Compares in the same time whatever differs.
    func matches(_ other: HMACSHA1) -> Bool {
        (first ^ other.first) | (second ^ other.second) | UInt64(last ^ other.last) == 0
    }

    func write(to buffer: inout ByteBuffer) {
        buffer.writeInteger(first)
        buffer.writeInteger(second)
        buffer.writeInteger(last)
    }
}

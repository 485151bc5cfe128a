internal import COpenSSL
internal import NIOCore

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
    init?(ofSTUN message: ByteBuffer, upTo count: Int, headerLength: UInt16, key: [UInt8]) {
        guard count >= 4, count <= message.readableBytes else { return nil }
        var code: (UInt64, UInt64, UInt32) = (0, 0, 0)
        let isDone = withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { scratch in
            message.withUnsafeReadableBytes { scratch.copyMemory(from: .init(rebasing: $0[..<count])) }
            scratch[2] = UInt8(headerLength >> 8)
            scratch[3] = UInt8(headerLength & 0xFF)
            return withUnsafeTemporaryAllocation(byteCount: Int(EVP_MAX_MD_SIZE), alignment: 8) { digest in
                var length: UInt32 = 0
                let made = key.withUnsafeBufferPointer { key in
                    HMAC(
                        EVP_sha1(), key.baseAddress, Int32(truncatingIfNeeded: key.count),
                        scratch.assumingMemoryBound(to: UInt8.self).baseAddress, count,
                        digest.assumingMemoryBound(to: UInt8.self).baseAddress, &length)
                }
                guard made != nil, length == Self.size else { return false }
                code.0 = UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
                code.1 = UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                code.2 = UInt32(bigEndian: digest.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
                return true
            }
        }
        guard isDone else { return nil }
        (first, second, last) = code
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

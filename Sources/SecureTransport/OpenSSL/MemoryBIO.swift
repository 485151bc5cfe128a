internal import COpenSSL

/// The end of a connection that libssl reads from and writes to, in memory: a BIO of our own.
class MemoryBIO {
    /// Hands arrived bytes over; nil if there are none at present.
    func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? { nil }

    /// Takes all of these bytes, which are to be sent.
    func write(_ bytes: UnsafeRawBufferPointer) {}

    /// A `BIO *` over this memory, which has to outlive it; nil when there is no memory for it.
    final func makeBIO() -> OpaquePointer? {
        guard let bio = BIO_new(Self.method.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// A `BIO_METHOD *`. `@unchecked Sendable`: nothing changes it once it has been made.
    private struct Method: @unchecked Sendable {
        var pointer: OpaquePointer?
    }

    private static let method: Method = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "memory of the program")
        BIO_meth_set_read(method) { bio, bytes, capacity in
            shim_BIO_clear_retry_flags(bio)
            guard let memory = MemoryBIO.of(bio), let bytes, capacity > 0 else { return -1 }
            guard let count = memory.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(capacity)))
            else {
                shim_BIO_set_retry_read(bio)
                return -1
            }
            return Int32(count)
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            shim_BIO_clear_retry_flags(bio)
            guard let memory = MemoryBIO.of(bio), let bytes, count > 0 else { return -1 }
            memory.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Everything is written at once. All else (timeouts, path MTU) is for sockets.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return Method(pointer: method)
    }()

    private static func of(_ bio: OpaquePointer?) -> MemoryBIO? {
        BIO_get_data(bio).map { Unmanaged<MemoryBIO>.fromOpaque($0).takeUnretainedValue() }
    }
}

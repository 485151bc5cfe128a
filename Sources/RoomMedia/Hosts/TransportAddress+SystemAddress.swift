import Glibc
package import NIOCore
package import SecureTransport

extension TransportAddress {
    /// Reads a `sockaddr_in` or `sockaddr_in6`; nil for any other family.
    ///
    /// IPv4 addresses that a dual-stack socket gives in their IPv6-mapped form come out as IPv4 addresses.
    package init?(systemAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        func load<Word: FixedWidthInteger>(_ offset: Int, as type: Word.Type) -> Word {
            Word(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= 8:
            self.init(ipv4: load(4, as: UInt32.self), port: load(2, as: UInt16.self))
        case AF_INET6 where bytes.count >= 28:
            self =
                TransportAddress(
                    ipv6: (load(8, as: UInt64.self), load(16, as: UInt64.self)), port: load(2, as: UInt16.self),
                    scopeID: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
                ).unmapped
        default:
            return nil
        }
    }

    /// Makes a socket's address; nil if it is not an internet address.
    package init?(_ address: SocketAddress) {
        let read = address.withSockAddr { pointer, size in
            TransportAddress(systemAddress: UnsafeRawBufferPointer(start: pointer, count: size))
        }
        guard let read else { return nil }
        self = read
    }
}

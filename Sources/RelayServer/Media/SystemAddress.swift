import Glibc
import SecureTransport

/// An internet address for Linux's system calls: `sockaddr_in` (16 bytes) or `sockaddr_in6` (28 bytes).
///
/// It is laid out byte by byte here. The C structures belong to the module from which a compilation reads them first,
/// so code that names their members does not always compile.
struct SystemAddress {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private let length: Int

    private static let lengthIPv4 = 16
    private static let lengthIPv6 = 28

    /// The address for a socket of the given family: an IPv6 socket takes IPv4 addresses in their mapped form. Nil for
    /// an IPv6 address and an IPv4 socket.
    init?(_ address: TransportAddress, isIPv6Socket: Bool) {
        guard isIPv6Socket || !address.isIPv6 else { return nil }
        length = isIPv6Socket ? Self.lengthIPv6 : Self.lengthIPv4
        let ipv4 = address.ipv4 ?? 0
        let ipv6 = address.ipv6Form
        withUnsafeMutableBytes(of: &words) { bytes in
            bytes.storeBytes(of: sa_family_t(isIPv6Socket ? AF_INET6 : AF_INET), as: sa_family_t.self)
            bytes.storeBytes(of: address.port.bigEndian, toByteOffset: 2, as: UInt16.self)
            if isIPv6Socket {
                bytes.storeBytes(of: ipv6.0.bigEndian, toByteOffset: 8, as: UInt64.self)
                bytes.storeBytes(of: ipv6.1.bigEndian, toByteOffset: 16, as: UInt64.self)
                bytes.storeBytes(of: address.scopeID, toByteOffset: 24, as: UInt32.self)
            } else {
                bytes.storeBytes(of: ipv4.bigEndian, toByteOffset: 4, as: UInt32.self)
            }
        }
    }

    /// Calls `body` with the structure's bytes.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: words) { try body(UnsafeRawBufferPointer(rebasing: $0.prefix(length))) }
    }
}

extension TransportAddress {
    /// The IPv6 address, or the mapped form of the IPv4 address, as an IPv6 socket takes it.
    var ipv6Form: (UInt64, UInt64) { ipv6 ?? (0, 0xFFFF_0000_0000 | UInt64(ipv4 ?? 0)) }
}

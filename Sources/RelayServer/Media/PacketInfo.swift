import Glibc
import SecureTransport

/// The control message that names our address at which a datagram arrived, or from which it leaves: `in_pktinfo`
/// (ip(7)) or `in6_pktinfo` (ipv6(7)). An IPv6 socket names an IPv4 address in its mapped form.
///
/// It is laid out byte by byte, as `SystemAddress` is.
enum PacketInfo {
    /// `CMSG_SPACE` of the longer one: a header, and 20 bytes that are padded to 24.
    static let maximumSpace = 40

    /// `IP_PKTINFO` (linux/in.h) and `IPV6_PKTINFO` (linux/in6.h).
    private static let optionIPv4: CInt = 8
    private static let optionIPv6: CInt = 50
    /// The sizes of the structures: interface and two addresses, or address and interface.
    private static let sizeIPv4 = 12
    private static let sizeIPv6 = 20

    /// Returns the address in a received control message, with port 0; nil if the message is of another kind.
    static func address(level: CInt, type: CInt, _ value: UnsafeRawBufferPointer) -> TransportAddress? {
        func load<Word: FixedWidthInteger>(_ offset: Int, as type: Word.Type) -> Word {
            Word(bigEndian: value.loadUnaligned(fromByteOffset: offset, as: type))
        }
        switch (level, type) {
        case (CInt(IPPROTO_IP), optionIPv4) where value.count >= sizeIPv4:
            return TransportAddress(ipv4: load(8, as: UInt32.self), port: 0)
        case (CInt(IPPROTO_IPV6), optionIPv6) where value.count >= sizeIPv6:
            return TransportAddress(ipv6: (load(0, as: UInt64.self), load(8, as: UInt64.self)), port: 0).unmapped
        default:
            return nil
        }
    }

    /// Writes the control message for a datagram that leaves, and returns its `CMSG_SPACE`. It names no interface: the
    /// route decides.
    static func write(_ address: TransportAddress, isIPv6Socket: Bool, to control: UnsafeMutableRawPointer) -> Int {
        let headerSize = MemoryLayout<cmsghdr>.size
        let size = isIPv6Socket ? sizeIPv6 : sizeIPv4
        var header = cmsghdr()
        header.cmsg_len = headerSize + size
        header.cmsg_level = CInt(isIPv6Socket ? IPPROTO_IPV6 : IPPROTO_IP)
        header.cmsg_type = isIPv6Socket ? optionIPv6 : optionIPv4
        let space = (headerSize + size + 7) & ~7
        control.initializeMemory(as: UInt8.self, repeating: 0, count: space)
        control.storeBytes(of: header, as: cmsghdr.self)
        let value = control.advanced(by: headerSize)
        if isIPv6Socket {
            let (high, low) = address.ipv6Form
            value.storeBytes(of: high.bigEndian, as: UInt64.self)
            value.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        } else {
            value.storeBytes(of: (address.ipv4 ?? 0).bigEndian, toByteOffset: 4, as: UInt32.self)
        }
        return space
    }
}

public import SecureTransport

/// The addresses that begin with certain bits.
public struct NetworkPrefix: Hashable, Sendable {
    private let address: TransportAddress
    /// The number of these bits.
    public let length: Int

    /// Reads an address, or one with a length behind it: `10.0.0.0/8`, `2001:db8::/32`, `[2001:db8::1]`.
    public init?(parsing text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        var host = parts[0]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let address = TransportAddress(host: String(host), port: 0) else { return nil }
        let bits = address.isIPv6 ? 128 : 32
        guard parts.count > 1 else {
            self.init(address, bits)
            return
        }
        guard let length = Int(parts[1]), (0...bits).contains(length), parts[1].allSatisfy(\.isNumber) else {
            return nil
        }
        self.init(address, length)
    }

    /// Networks are compared with addresses unmapped.
    private init(_ address: TransportAddress, _ length: Int) {
        let isMapped = address.isIPv6 && !address.unmapped.isIPv6 && length >= 96
        self.address = isMapped ? address.unmapped : address
        self.length = isMapped ? length - 96 : length
    }

    private init(_ ipv4: UInt32, _ length: Int) {
        self.init(TransportAddress(ipv4: ipv4, port: 0), length)
    }

    private init(_ high: UInt64, ipv6 length: Int) {
        self.init(TransportAddress(ipv6: (high, 0), port: 0), length)
    }

    /// True if an address, whose port makes no difference, begins with these bits. An IPv4-mapped IPv6 address counts
    /// as IPv4.
    public func contains(_ other: TransportAddress) -> Bool {
        let other = other.unmapped
        if let own = address.ipv4 {
            guard let other = other.ipv4 else { return false }
            return length == 0 || (own ^ other) >> (32 - UInt32(length)) == 0
        }
        guard let own = address.ipv6, let other = other.ipv6 else { return false }
        let upper = min(length, 64)
        let lower = length - upper
        return (upper == 0 || (own.0 ^ other.0) >> UInt64(64 - upper) == 0)
            && (lower == 0 || (own.1 ^ other.1) >> UInt64(64 - lower) == 0)
    }

    /// True if an address is one of the public internet: IANA's registries of special addresses (RFC 6890) list those
    /// that are not. Addresses of translators and tunnels, in which others stand, are not public either.
    static func isPublic(_ address: TransportAddress) -> Bool {
        guard address.unmapped.isIPv6 else { return !special.contains { $0.contains(address) } }
        return globalUnicast.contains(address) && !special.contains { $0.contains(address) }
    }

    private static let globalUnicast = NetworkPrefix(0x2000 << 48, ipv6: 3)

    private static let special: [NetworkPrefix] = [
        NetworkPrefix(0x0000_0000, 8), NetworkPrefix(0x0A00_0000, 8), NetworkPrefix(0x6440_0000, 10),
        NetworkPrefix(0x7F00_0000, 8), NetworkPrefix(0xA9FE_0000, 16), NetworkPrefix(0xAC10_0000, 12),
        NetworkPrefix(0xC000_0000, 24), NetworkPrefix(0xC000_0200, 24), NetworkPrefix(0xC058_6300, 24),
        NetworkPrefix(0xC0A8_0000, 16), NetworkPrefix(0xC612_0000, 15), NetworkPrefix(0xC633_6400, 24),
        NetworkPrefix(0xCB00_7100, 24), NetworkPrefix(0xE000_0000, 4), NetworkPrefix(0xF000_0000, 4),
        // Teredo and others of the IETF, documentation, 6to4.
        NetworkPrefix(0x2001 << 48, ipv6: 23), NetworkPrefix(0x2001_0DB8 << 32, ipv6: 32),
        NetworkPrefix(0x2002 << 48, ipv6: 16), NetworkPrefix(0x3FFF << 48, ipv6: 20),
    ]
}

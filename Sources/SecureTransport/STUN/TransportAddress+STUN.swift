internal import NIOCore

// XOR-MAPPED-ADDRESS (RFC 8489, section 14.2): port and address are XORed with the magic cookie and, for IPv6, with
// the transaction ID, so that middleboxes do not rewrite them.
extension TransportAddress {
    /// Parses an attribute's value; nil when it is neither IPv4's nor IPv6's.
    init?(xorMapped bytes: ByteBuffer, in value: Range<Int>, transactionID: STUNTransactionID) {
        let start = value.lowerBound
        guard let family = bytes.getInteger(at: start + 1, as: UInt8.self),
            let maskedPort = bytes.getInteger(at: start + 2, as: UInt16.self)
        else { return nil }
        let port = maskedPort ^ UInt16(STUNMessage.magicCookie >> 16)
        switch (family, value.count) {
        case (1, 8):
            guard let masked = bytes.getInteger(at: start + 4, as: UInt32.self) else { return nil }
            self.init(ipv4: masked ^ STUNMessage.magicCookie, port: port)
        case (2, 20):
            guard let high = bytes.getInteger(at: start + 4, as: UInt64.self),
                let low = bytes.getInteger(at: start + 12, as: UInt64.self)
            else { return nil }
            self.init(ipv6: (high ^ Self.upperMask(transactionID), low ^ transactionID.low), port: port)
        default: return nil
        }
    }

    /// Writes the attribute's value.
    func writeXORMapped(to buffer: inout ByteBuffer, transactionID: STUNTransactionID) {
        buffer.writeInteger(UInt16(isIPv6 ? 2 : 1))
        buffer.writeInteger(port ^ UInt16(STUNMessage.magicCookie >> 16))
        if let ipv4 {
            buffer.writeInteger(ipv4 ^ STUNMessage.magicCookie)
        } else if let ipv6 {
            buffer.writeInteger(ipv6.0 ^ Self.upperMask(transactionID))
            buffer.writeInteger(ipv6.1 ^ transactionID.low)
        }
    }

    private static func upperMask(_ transactionID: STUNTransactionID) -> UInt64 {
        UInt64(STUNMessage.magicCookie) << 32 | UInt64(transactionID.high)
    }
}

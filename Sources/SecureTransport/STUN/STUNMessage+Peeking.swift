public import NIOCore

extension STUNMessage {
    /// The username fragment of a check's receiver: the part of USERNAME before the colon (RFC 8445, section 7.2.2).
    /// Nil if it is no request of ICE.
    ///
    /// A relay uses it to find the session of a datagram before anything is checked. Fragments of up to 15 bytes, like
    /// ours, cost no allocation.
    public static func localUsernameFragment(of datagram: ByteBuffer) -> String? {
        let start = datagram.readerIndex
        guard (headerSize...maximumSize).contains(datagram.readableBytes),
            datagram.getInteger(at: start, as: UInt16.self) == bindingMethod,
            datagram.getInteger(at: start + 4, as: UInt32.self) == magicCookie
        else { return nil }
        var offset = start + headerSize
        while let type = datagram.getInteger(at: offset, as: UInt16.self),
            let length = datagram.getInteger(at: offset + 2, as: UInt16.self)
        {
            if type == STUNAttributeType.username.rawValue {
                guard let bytes = datagram.viewBytes(at: offset + 4, length: Int(length)),
                    let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
                else { return nil }
                return datagram.getString(at: offset + 4, length: colon - bytes.startIndex)
            }
            offset += 4 + (Int(length) + 3) & ~3
        }
        return nil
    }

    /// The number of a message's transaction, unchecked; nil if the datagram ends before it.
    static func transactionID(of datagram: ByteBuffer) -> STUNTransactionID? {
        let start = datagram.readerIndex
        guard let high = datagram.getInteger(at: start + 8, as: UInt32.self),
            let low = datagram.getInteger(at: start + 12, as: UInt64.self)
        else { return nil }
        return STUNTransactionID(high: high, low: low)
    }
}

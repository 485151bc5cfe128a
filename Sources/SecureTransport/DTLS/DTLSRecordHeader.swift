internal import NIOCore

/// The fields of a DTLS record's header (RFC 6347, section 4.1; RFC 9147, section 4), which are not authenticated.
struct DTLSRecordHeader: Hashable {
    /// The epoch above 48 bits of sequence number; nil for the short headers of DTLS 1.3, which are encrypted in part.
    var number: UInt64?
    var isApplicationData: Bool
    /// The number of bytes after the header; nil if it is not known.
    var length: Int?

    /// True if the record is encrypted: all are from the first epoch on.
    var isProtected: Bool { number.map { $0 >> 48 > 0 } ?? true }

    /// Takes a record off the front of `datagram`; nil if it is not a whole one.
    ///
    /// A short header extends to the datagram's end: only the library can find its record's end.
    static func take(from datagram: inout ByteBuffer) -> DTLSRecordHeader? {
        guard let type = datagram.readInteger(as: UInt8.self) else { return nil }
        if type >> 5 == 0b001 {
            datagram.moveReaderIndex(to: datagram.writerIndex)
            return DTLSRecordHeader(number: nil, isApplicationData: false, length: nil)
        }
        guard contentTypes.contains(type),
            let (version, number, length) = datagram.readMultipleIntegers(as: (UInt16, UInt64, UInt16).self),
            versions.contains(version), length <= maximumLength, datagram.readSlice(length: Int(length)) != nil
        else { return nil }
        return DTLSRecordHeader(number: number, isApplicationData: type == applicationData, length: Int(length))
    }

    private static let applicationData: UInt8 = 23
    /// change_cipher_spec, alert, handshake, application_data and, since DTLS 1.3, ACK. Heartbeats (24) and connection
    /// identifiers (25) are not negotiated here.
    private static let contentTypes: Set<UInt8> = [20, 21, 22, applicationData, 26]
    /// DTLS 1.0, which a first ClientHello may name, and 1.2, which 1.3 still names.
    private static let versions: Set<UInt16> = [0xFEFF, 0xFEFD]
    /// The size of the plaintext plus the largest growth by encryption (RFC 5246, section 6.2.3).
    private static let maximumLength: UInt16 = 16_384 + 2048
}

import NIOCore

/// Datagrams taken apart into DTLS records, and records made up.
enum DTLSRecords {
    /// The records of a datagram, each by itself.
    static func split(_ datagram: ByteBuffer) -> [ByteBuffer] {
        var rest = datagram
        var records: [ByteBuffer] = []
        while let length = rest.getInteger(at: rest.readerIndex + 11, as: UInt16.self),
            let record = rest.readSlice(length: 13 + Int(length))
        {
            records.append(record)
        }
        return records
    }

    static func record(
        type: UInt8, version: UInt16 = 0xFEFD, epoch: UInt16 = 0, sequence: UInt64, payload: [UInt8]
    ) -> ByteBuffer {
        var buffer = ByteBuffer(bytes: [type])
        buffer.writeInteger(version)
        buffer.writeInteger(UInt64(epoch) << 48 | sequence)
        buffer.writeInteger(UInt16(payload.count))
        buffer.writeBytes(payload)
        return buffer
    }
}

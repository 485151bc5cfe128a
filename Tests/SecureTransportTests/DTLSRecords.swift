import NIOCore
import Testing

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

    /// The one handshake message of a record in fragments of at most `size` bytes, each in a record of its own
    /// (RFC 6347, section 4.2.3), whose numbers the sender of the message does not come to use.
    static func fragments(of record: ByteBuffer, size: Int) throws -> [ByteBuffer] {
        let header = try #require(record.getBytes(at: record.readerIndex + 13, length: 6))
        let body = try #require(record.getBytes(at: record.readerIndex + 25, length: record.readableBytes - 25))
        return stride(from: 0, to: body.count, by: size).enumerated().map { index, offset in
            let part = body[offset..<min(body.count, offset + size)]
            let place = [offset, part.count].flatMap { [UInt8(0), UInt8($0 >> 8), UInt8($0 & 255)] }
            return self.record(type: 22, sequence: 40 + UInt64(index), payload: header + place + part)
        }
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

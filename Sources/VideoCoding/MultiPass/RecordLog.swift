import MediaCore
import NIOCore

/// A file of records, each after its lengths and checksums.
///
/// A record is written once; it can be erased, never changed. The unfinished record of a process that ended is cut off
/// when the file is opened again; any other deviation is an error.
final class RecordLog {
    /// The purpose of a file.
    struct Kind {
        /// The file's first eight bytes.
        var signature: StaticString
        /// Its name in errors.
        var name: String
    }

    struct Reference {
        var offset: Int
        var headCount: Int
        var bodyCount: Int
        var bodyChecksum: UInt32

        var end: Int { bodyOffset + bodyCount }
        fileprivate var bodyOffset: Int { offset + Header.count + headCount }
    }

    /// A record's beginning.
    struct Record {
        /// The kind of the record, which the log's user defines.
        var tag: UInt8
        /// The part that is read with the record.
        var head: ByteBuffer
        /// The place of the rest.
        var reference: Reference
    }

    private let file: StorageFile

    private static let version: UInt32 = 1
    private static let preambleCount = 16

    /// Opens the log at `path`, or begins it; a temporary one without a path.
    init(path: String?, kind: Kind) throws(MultiPassError) {
        file = try StorageFile(path: path)
        guard file.size > 0 else {
            var preamble = ByteBuffer(staticString: kind.signature)
            preamble.writeInteger(Self.version)
            preamble.writeInteger(CRC32.checksum(of: preamble))
            try file.append(preamble)
            return
        }
        var preamble = try file.read(at: 0, count: Self.preambleCount)
        let content = preamble.getSlice(at: preamble.readerIndex, length: Self.preambleCount - 4)
        guard let content, preamble.readSlice(length: 8) == ByteBuffer(staticString: kind.signature),
            let version = preamble.readInteger(as: UInt32.self),
            let checksum = preamble.readInteger(as: UInt32.self)
        else { throw .wrongKind(path: file.name, expected: kind.name) }
        guard checksum == CRC32.checksum(of: content) else {
            throw .corrupt(path: file.name, offset: 0, reason: "the file's header does not fit its checksum")
        }
        guard version == Self.version else {
            throw .unsupportedVersion(path: file.name, version: Int(version))
        }
    }

    /// Reads the heads of all records that have not been erased, in the order in which they were written.
    func scan(_ visit: (Record) throws(MultiPassError) -> Void) throws(MultiPassError) {
        var offset = Self.preambleCount
        while offset < file.size {
            let bytes = try file.read(at: offset, count: Header.count)
            guard bytes.readableBytes == Header.count else { return try file.truncate(to: offset) }
            guard let header = Header(bytes) else {
                throw .corrupt(path: file.name, offset: offset, reason: "there should be a record's header")
            }
            let reference = Reference(
                offset: offset, headCount: Int(header.headCount), bodyCount: Int(header.bodyCount),
                bodyChecksum: header.bodyChecksum)
            // The header's lengths are right, so an incomplete record is one whose writer ended.
            guard reference.end <= file.size else { return try file.truncate(to: offset) }
            let head = try file.read(at: offset + Header.count, count: reference.headCount)
            guard CRC32.checksum(of: head) == header.headChecksum else {
                throw corruption(of: reference, reason: "a record's head does not fit its checksum")
            }
            if !header.isErased { try visit(Record(tag: header.tag, head: head, reference: reference)) }
            offset = reference.end
        }
    }

    /// Writes a record at the end.
    func append(tag: UInt8, head: ByteBuffer, body: ByteBuffer = ByteBuffer()) throws(MultiPassError) -> Reference {
        guard let headCount = UInt16(exactly: head.readableBytes), let bodyCount = UInt32(exactly: body.readableBytes)
        else {
            throw .systemFailure(
                path: file.name, operation: "write a record", reason: "it has \(body.readableBytes) bytes")
        }
        let header = Header(
            tag: tag, headCount: headCount, headChecksum: CRC32.checksum(of: head), bodyCount: bodyCount,
            bodyChecksum: CRC32.checksum(of: body))
        let reference = Reference(
            offset: file.size, headCount: Int(headCount), bodyCount: Int(bodyCount), bodyChecksum: header.bodyChecksum)
        try file.append(header.bytes, head, body)
        return reference
    }

    /// The rest of a record.
    func body(of reference: Reference) throws(MultiPassError) -> ByteBuffer {
        let body = try file.read(at: reference.bodyOffset, count: reference.bodyCount)
        guard body.readableBytes == reference.bodyCount, CRC32.checksum(of: body) == reference.bodyChecksum else {
            throw corruption(of: reference, reason: "a record's content does not fit its checksum")
        }
        return body
    }

    /// Takes a record out. Its space in the file is not used again.
    func erase(_ reference: Reference) throws(MultiPassError) {
        try file.write(ByteBuffer(bytes: [Header.erased]), at: reference.offset)
    }

    /// An error that says that a record makes no sense.
    func corruption(of reference: Reference, reason: String) -> MultiPassError {
        .corrupt(path: file.name, offset: reference.offset, reason: reason)
    }

    func synchronize() throws(MultiPassError) { try file.synchronize() }
    func close() { file.close() }
    func remove() throws(MultiPassError) { try file.remove() }
}

extension RecordLog {
    fileprivate struct Header {
        var isErased = false
        var tag: UInt8
        var headCount: UInt16
        var headChecksum: UInt32
        var bodyCount: UInt32
        var bodyChecksum: UInt32

        static let count = 20
        // The two values differ in many bits, so that a flipped bit makes neither of the other.
        private static let kept: UInt8 = 0x5A
        static let erased: UInt8 = 0xA5

        var bytes: ByteBuffer {
            var fields = ByteBufferAllocator().buffer(capacity: Self.count)
            fields.writeInteger(tag)
            fields.writeInteger(headCount)
            fields.writeInteger(headChecksum)
            fields.writeInteger(bodyCount)
            fields.writeInteger(bodyChecksum)
            var bytes = ByteBuffer(bytes: [isErased ? Self.erased : Self.kept])
            bytes.writeImmutableBuffer(fields)
            bytes.writeInteger(CRC32.checksum(of: fields))
            return bytes
        }
    }
}

extension RecordLog.Header {
    /// Reads a header; nil when it does not fit its own checksum.
    init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let mark = bytes.readInteger(as: UInt8.self), mark == Self.kept || mark == Self.erased,
            let fields = bytes.getSlice(at: bytes.readerIndex, length: Self.count - 5),
            let tag = bytes.readInteger(as: UInt8.self), let headCount = bytes.readInteger(as: UInt16.self),
            let headChecksum = bytes.readInteger(as: UInt32.self),
            let bodyCount = bytes.readInteger(as: UInt32.self),
            let bodyChecksum = bytes.readInteger(as: UInt32.self),
            let checksum = bytes.readInteger(as: UInt32.self), checksum == CRC32.checksum(of: fields)
        else { return nil }
        self.init(
            isErased: mark == Self.erased, tag: tag, headCount: headCount, headChecksum: headChecksum,
            bodyCount: bodyCount, bodyChecksum: bodyChecksum)
    }
}

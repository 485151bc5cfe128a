import NIOCore

/// A message of RTMP.
struct RTMPMessage: Hashable, Sendable {
    /// The types that a publisher sends (RTMP 1.0, 5.4 and 7.1).
    enum Kind: UInt8, Sendable {
        case setChunkSize = 1
        case abort = 2
        case acknowledgement = 3
        case userControl = 4
        case windowAcknowledgementSize = 5
        case setPeerBandwidth = 6
        case audio = 8
        case video = 9
        case dataAMF3 = 15
        case commandAMF3 = 17
        case data = 18
        case command = 20
    }

    var kind: Kind
    /// Milliseconds.
    var timestamp: UInt32
    /// The stream in the connection; 0 is the connection itself.
    var stream: UInt32
    var payload: ByteBuffer
}

/// The reason for which a connection is not RTMP, or not one that is served.
struct RTMPError: Error, CustomStringConvertible {
    let description: String
}

/// Puts RTMP's messages together from their chunks (RTMP 1.0, 5.3). Sans I/O.
struct RTMPChunkReader {
    /// The largest message of a stream: a keyframe at the highest rate has a few megabytes.
    static let mostMediaBytes = 8 << 20
    /// The largest message. One of a client that has shown no key yet is a command.
    var mostBytes = 64 << 10
    /// The bytes of all messages that are incomplete.
    private var mostWaiting: Int { 2 * mostBytes }
    /// The chunk streams of a connection. Publishers use fewer than ten.
    private static let mostStreams = 32
    private static let largestChunk = 1 << 20

    /// The last header of a chunk stream, to which the next one refers.
    private struct Header {
        var timestamp: UInt32 = 0
        var delta: UInt32 = 0
        var length = 0
        var kind: UInt8 = 0
        var stream: UInt32 = 0
        var isExtended = false
        var payload = ByteBuffer()
        var isPartial = false
    }

    private var bytes = ByteBuffer()
    private var headers: [UInt32: Header] = [:]
    private var waiting = 0
    private var chunkSize = 128

    /// The bytes of the connection that are in no chunk yet.
    var unread: Int { bytes.readableBytes }

    /// Takes bytes of the connection.
    mutating func append(_ new: inout ByteBuffer) {
        bytes.writeBuffer(&new)
    }

    /// The next message; nil if it is not complete yet. Messages of kinds that nobody needs are left out.
    mutating func next() throws(RTMPError) -> RTMPMessage? {
        while true {
            let start = bytes.readerIndex
            guard let chunk = try readChunk() else {
                bytes.moveReaderIndex(to: start)
                bytes.discardReadBytes()
                return nil
            }
            guard let message = chunk.message else { continue }
            switch message.kind {
            case .setChunkSize:
                guard let size = message.payload.getInteger(at: message.payload.readerIndex, as: UInt32.self),
                    (1...UInt32(Self.largestChunk)).contains(size)
                else { throw RTMPError(description: "a chunk size that is not possible") }
                chunkSize = Int(size)
            case .abort:
                guard let id = message.payload.getInteger(at: message.payload.readerIndex, as: UInt32.self) else {
                    continue
                }
                waiting -= headers[id]?.payload.readableBytes ?? 0
                headers[id]?.payload = ByteBuffer()
                headers[id]?.isPartial = false
            default: return message
            }
        }
    }

    private struct Chunk {
        /// The message that is complete with it, if its kind is known.
        var message: RTMPMessage?
    }

    /// Reads one chunk; nil if it is not there as a whole. Then nothing has changed but the place in the bytes.
    private mutating func readChunk() throws(RTMPError) -> Chunk? {
        guard let first = bytes.readInteger(as: UInt8.self) else { return nil }
        var id = UInt32(first & 0x3F)
        switch id {
        case 0:
            guard let next = bytes.readInteger(as: UInt8.self) else { return nil }
            id = UInt32(next) + 64
        case 1:
            guard let next = bytes.readInteger(endianness: .little, as: UInt16.self) else { return nil }
            id = UInt32(next) + 64
        default: break
        }
        guard var header = try readHeader(format: first >> 6, headers[id]) else { return nil }
        let size = min(chunkSize, header.length - header.payload.readableBytes)
        guard bytes.readableBytes >= size, let part = bytes.readSlice(length: size) else { return nil }
        guard headers[id] != nil || headers.count < Self.mostStreams else {
            throw RTMPError(description: "more than \(Self.mostStreams) chunk streams")
        }
        // The table must not hold the payload too: then the next write would copy it.
        headers.removeValue(forKey: id)
        header.payload.writeImmutableBuffer(part)
        header.isPartial = header.payload.readableBytes < header.length
        waiting += size
        guard waiting <= mostWaiting else { throw RTMPError(description: "too much that is incomplete") }
        guard !header.isPartial else {
            headers[id] = header
            return Chunk(message: nil)
        }
        waiting -= header.length
        let payload = header.payload
        header.payload = ByteBuffer()
        headers[id] = header
        let message = RTMPMessage.Kind(rawValue: header.kind).map {
            RTMPMessage(kind: $0, timestamp: header.timestamp, stream: header.stream, payload: payload)
        }
        return Chunk(message: message)
    }

    private mutating func readHeader(format: UInt8, _ before: Header?) throws(RTMPError) -> Header? {
        var header = before ?? Header()
        guard before != nil || format == 0 else { throw RTMPError(description: "a chunk that refers to none before") }
        guard !header.isPartial || format == 3 else { throw RTMPError(description: "a message within a message") }
        var field: UInt32 = 0
        if format < 3 {
            guard let time = readUInt24() else { return nil }
            field = time
            header.isExtended = time == 0xFF_FFFF
        }
        if format < 2 {
            guard let length = readUInt24(), let kind = bytes.readInteger(as: UInt8.self) else { return nil }
            guard length <= UInt32(mostBytes) else { throw RTMPError(description: "a message of \(length) bytes") }
            (header.length, header.kind) = (Int(length), kind)
        }
        if format == 0 {
            guard let stream = bytes.readInteger(endianness: .little, as: UInt32.self) else { return nil }
            header.stream = stream
        }
        if header.isExtended {
            guard let time = bytes.readInteger(as: UInt32.self) else { return nil }
            field = time
        }
        guard !header.isPartial else { return header }
        switch format {
        case 0: (header.timestamp, header.delta) = (field, 0)
        case 1, 2:
            header.delta = field
            header.timestamp &+= field
        default: header.timestamp &+= header.delta
        }
        return header
    }

    private mutating func readUInt24() -> UInt32? {
        guard let high = bytes.readInteger(as: UInt8.self), let low = bytes.readInteger(as: UInt16.self) else {
            return nil
        }
        return UInt32(high) << 16 | UInt32(low)
    }
}

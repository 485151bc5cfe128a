import NIOCore

/// The server's side of an RTMP connection that publishes one stream (RTMP 1.0). Sans I/O.
struct RTMPSession {
    enum Event: Hashable, Sendable {
        /// To be sent.
        case send(ByteBuffer)
        /// The client asks to publish: answer with `accept` or `refuse`, and read nothing of the connection until then.
        case publish(application: String, key: String)
        /// A part of the stream, as an FLV file has it.
        case media(ByteBuffer)
        /// The client ends its stream.
        case end
    }

    private enum Phase {
        case awaitsHello
        case awaitsEcho
        case open
        case asked
        case publishing
        case over
    }

    /// A hello of the handshake without its version (RTMP 1.0, 5.2.3).
    private static let helloSize = 1536
    private static let version: UInt8 = 3
    /// The bytes after which either side acknowledges.
    private static let window: UInt32 = 2_500_000
    private static let chunkSize = 4096
    /// The stream that is made for the client, and the chunk streams of answers.
    private static let stream: UInt32 = 1
    private static let controlStream: UInt8 = 2
    private static let commandStream: UInt8 = 3
    /// The commands that are answered; a publisher has fewer than ten. Answers wait for clients that do not read them.
    private static let mostAnswers = 64
    /// The most bytes behind a request to publish that wait for its answer. The listener does not read on until then.
    private static let mostEarly = 512 << 10

    private var phase = Phase.awaitsHello
    private var handshake = ByteBuffer()
    private var chunks = RTMPChunkReader()
    private var application = ""
    private var received: UInt32 = 0
    private var acknowledged: UInt32 = 0
    private var events: [Event] = []
    private var answers = 0
    private var hasHeader = false

    /// Takes bytes of the connection, and returns what follows from them.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPError) -> [Event] {
        var bytes = bytes
        events = []
        received &+= UInt32(truncatingIfNeeded: bytes.readableBytes)
        switch phase {
        case .awaitsHello, .awaitsEcho:
            handshake.writeBuffer(&bytes)
            try shakeHands()
        default: chunks.append(&bytes)
        }
        guard phase != .awaitsHello, phase != .awaitsEcho else { return events }
        try takeMessages()
        return events
    }

    /// Takes the complete messages. Those behind a request to publish wait for its answer: some encoders send media at
    /// once, and describe the stream only once.
    private mutating func takeMessages() throws(RTMPError) {
        while phase != .over, phase != .asked, let message = try chunks.next() {
            try take(message)
            guard answers <= Self.mostAnswers else { throw RTMPError(description: "more commands than it takes") }
        }
        guard phase != .asked || chunks.unread <= Self.mostEarly else {
            throw RTMPError(description: "too much before it may publish")
        }
        acknowledge()
    }

    private mutating func shakeHands() throws(RTMPError) {
        if phase == .awaitsHello {
            if let version = handshake.getInteger(at: handshake.readerIndex, as: UInt8.self), version != Self.version {
                throw RTMPError(description: "version \(version) of RTMP, or something else")
            }
            guard handshake.readableBytes > Self.helloSize, handshake.readInteger(as: UInt8.self) != nil,
                let hello = handshake.readSlice(length: Self.helloSize)
            else { return }
            var answer = ByteBuffer()
            answer.writeInteger(Self.version)
            // Our hello: time zero, and no version, so that the client proves nothing by digests.
            answer.writeRepeatingByte(0, count: Self.helloSize)
            answer.writeImmutableBuffer(hello)
            events.append(.send(answer))
            phase = .awaitsEcho
        }
        guard handshake.readableBytes >= Self.helloSize else { return }
        handshake.moveReaderIndex(forwardBy: Self.helloSize)
        phase = .open
        var rest = handshake
        handshake = ByteBuffer()
        chunks.append(&rest)
    }

    private mutating func take(_ message: RTMPMessage) throws(RTMPError) {
        switch message.kind {
        case .command: try take(command: message.payload)
        case .commandAMF3:
            // AMF3 commands begin with a zero, behind which AMF0 stands.
            var payload = message.payload
            payload.moveReaderIndex(forwardBy: min(1, payload.readableBytes))
            try take(command: payload)
        case .audio, .video: media(message, type: message.kind.rawValue, message.payload)
        case .data: metadata(message)
        default: return
        }
    }

    private mutating func take(command payload: ByteBuffer) throws(RTMPError) {
        let values: [AMFValue]
        do throws(AMFValue.ParseError) {
            values = try AMFValue.values(in: payload)
        } catch {
            throw RTMPError(description: "a command that cannot be read")
        }
        guard let name = values.first?.text else { throw RTMPError(description: "a command without a name") }
        let transaction = values.count > 1 ? values[1].number ?? 0 : 0
        switch name {
        case "connect":
            guard values.count > 2, case .object(let properties) = values[2] else {
                throw RTMPError(description: "a connection to nothing")
            }
            application = properties["app"]?.text ?? ""
            connect(transaction)
        case "createStream":
            reply("_result", transaction, [.null, .number(Double(Self.stream))], stream: 0)
        case "releaseStream", "FCPublish", "_checkbw":
            if transaction > 0 { reply("_result", transaction, [.null, .null], stream: 0) }
        case "publish":
            guard phase == .open else { throw RTMPError(description: "a second stream") }
            phase = .asked
            events.append(.publish(application: application, key: values.count > 3 ? values[3].text ?? "" : ""))
        case "FCUnpublish", "deleteStream", "closeStream":
            guard phase == .publishing else { return }
            phase = .over
            events.append(.end)
        case "play":
            status(level: "error", code: "NetStream.Play.StreamNotFound", "this relay takes streams, and has none")
            phase = .over
            events.append(.end)
        default: return
        }
    }

    private mutating func connect(_ transaction: Double) {
        var size = ByteBuffer()
        size.writeInteger(Self.window)
        send(.windowAcknowledgementSize, size)
        // The limit is dynamic.
        size.writeInteger(2, as: UInt8.self)
        send(.setPeerBandwidth, size)
        var chunk = ByteBuffer()
        chunk.writeInteger(UInt32(Self.chunkSize))
        send(.setChunkSize, chunk)
        reply(
            "_result", transaction,
            [
                .object(["fmsVer": .string("FMS/3,5,7,7009"), "capabilities": .number(31)]),
                .object([
                    "level": .string("status"), "code": .string("NetConnection.Connect.Success"),
                    "description": .string("connected"), "objectEncoding": .number(0),
                ]),
            ], stream: 0)
    }

    // MARK: Answers

    /// Lets the client publish.
    mutating func accept() throws(RTMPError) -> [Event] {
        events = []
        guard phase == .asked else { return [] }
        phase = .publishing
        chunks.mostBytes = RTMPChunkReader.mostMediaBytes
        status(level: "status", code: "NetStream.Publish.Start", "published")
        try takeMessages()
        return events
    }

    /// Refuses the client's stream; the connection is to be closed.
    mutating func refuse(_ reason: String) -> [Event] {
        events = []
        status(level: "error", code: "NetStream.Publish.BadName", reason)
        phase = .over
        return events
    }

    private mutating func status(level: String, code: String, _ description: String) {
        reply(
            "onStatus", 0,
            [
                .null,
                .object(["level": .string(level), "code": .string(code), "description": .string(description)]),
            ], stream: Self.stream)
    }

    private mutating func reply(_ name: String, _ transaction: Double, _ values: [AMFValue], stream: UInt32) {
        answers += 1
        var payload = ByteBuffer()
        for value in [.string(name), .number(transaction)] + values { value.write(to: &payload) }
        send(.command, payload, chunkStream: Self.commandStream, stream: stream)
    }

    private mutating func acknowledge() {
        guard received &- acknowledged >= Self.window / 2, phase != .awaitsHello, phase != .awaitsEcho else { return }
        acknowledged = received
        var payload = ByteBuffer()
        payload.writeInteger(received)
        send(.acknowledgement, payload)
    }

    private mutating func send(
        _ kind: RTMPMessage.Kind, _ payload: ByteBuffer, chunkStream: UInt8 = controlStream, stream: UInt32 = 0
    ) {
        var bytes = ByteBuffer()
        bytes.writeInteger(chunkStream)
        // Time zero, then the length, in 24 bits each.
        bytes.writeBytes([0, 0, 0])
        bytes.writeInteger(UInt8(payload.readableBytes >> 16 & 0xFF))
        bytes.writeInteger(UInt16(payload.readableBytes & 0xFFFF))
        bytes.writeInteger(kind.rawValue)
        bytes.writeInteger(stream, endianness: .little)
        // The first answers leave before the client knows our chunk size: none is as long as the size that holds then.
        var rest = payload
        let size = kind == .command ? Self.chunkSize : 128
        while true {
            if let part = rest.readSlice(length: min(size, rest.readableBytes)) { bytes.writeImmutableBuffer(part) }
            guard rest.readableBytes > 0 else { break }
            // A chunk without a header, of the same chunk stream.
            bytes.writeInteger(0xC0 | chunkStream)
        }
        events.append(.send(bytes))
    }

    // MARK: Media

    /// Passes a message on as a tag of an FLV file (Video File Format, E.4.1).
    private mutating func media(_ message: RTMPMessage, type: UInt8, _ payload: ByteBuffer) {
        guard phase == .publishing, payload.readableBytes > 0 else { return }
        var tag = ByteBuffer()
        if !hasHeader {
            hasHeader = true
            // Version 1, which streams there are is seen from the tags, and a size before the first tag.
            tag.writeString("FLV")
            tag.writeBytes([1, 0, 0, 0, 0, 9, 0, 0, 0, 0])
        }
        let size = payload.readableBytes
        tag.writeInteger(type)
        tag.writeInteger(UInt8(size >> 16 & 0xFF))
        tag.writeInteger(UInt16(size & 0xFFFF))
        tag.writeInteger(UInt8(message.timestamp >> 16 & 0xFF))
        tag.writeInteger(UInt16(message.timestamp & 0xFFFF))
        tag.writeInteger(UInt8(message.timestamp >> 24))
        tag.writeBytes([0, 0, 0])
        tag.writeImmutableBuffer(payload)
        tag.writeInteger(UInt32(size + 11))
        events.append(.media(tag))
    }

    /// Metadata, less the name of the command by which they are stored.
    private mutating func metadata(_ message: RTMPMessage) {
        var payload = message.payload
        let command = "@setDataFrame"
        if payload.getInteger(at: payload.readerIndex, as: UInt8.self) == 0x02,
            payload.getString(at: payload.readerIndex + 3, length: command.utf8.count) == command
        {
            payload.moveReaderIndex(forwardBy: 3 + command.utf8.count)
        }
        media(message, type: message.kind.rawValue, payload)
    }
}

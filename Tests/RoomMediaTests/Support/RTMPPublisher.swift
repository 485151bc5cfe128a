import NIOCore

@testable import RoomMedia

/// Writes what a publisher sends.
struct RTMPPublisher {
    var bytes = ByteBuffer()
    var chunkSize = 128

    mutating func hello() {
        bytes.writeInteger(3, as: UInt8.self)
        bytes.writeBytes((0..<1536).map { UInt8(truncatingIfNeeded: $0) })
    }

    mutating func echo() { bytes.writeRepeatingByte(0, count: 1536) }

    mutating func message(
        _ kind: UInt8, _ payload: ByteBuffer, at time: UInt32 = 0, stream: UInt32 = 0, chunkStream: UInt8 = 3
    ) {
        let isExtended = time >= 0xFF_FFFF
        bytes.writeInteger(chunkStream)
        let field = isExtended ? 0xFF_FFFF : time
        bytes.writeBytes([UInt8(field >> 16 & 255), UInt8(field >> 8 & 255), UInt8(field & 255)])
        let size = payload.readableBytes
        bytes.writeBytes([UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)])
        bytes.writeInteger(kind)
        bytes.writeInteger(stream, endianness: .little)
        if isExtended { bytes.writeInteger(time) }
        var rest = payload
        while true {
            if let part = rest.readSlice(length: min(chunkSize, rest.readableBytes)) {
                bytes.writeImmutableBuffer(part)
            }
            guard rest.readableBytes > 0 else { return }
            bytes.writeInteger(0xC0 | chunkStream)
            if isExtended { bytes.writeInteger(time) }
        }
    }

    mutating func command(_ values: [AMFValue], stream: UInt32 = 0) {
        var payload = ByteBuffer()
        for value in values { value.write(to: &payload) }
        message(20, payload, stream: stream)
    }

    mutating func setChunkSize(_ size: Int) {
        var payload = ByteBuffer()
        payload.writeInteger(UInt32(size))
        message(1, payload, chunkStream: 2)
        chunkSize = size
    }

    /// As OBS and ffmpeg do.
    mutating func publish(_ application: String, key: String) {
        hello()
        echo()
        command([
            .string("connect"), .number(1), .object(["app": .string(application), "type": .string("nonprivate")]),
        ])
        command([.string("releaseStream"), .number(2), .null, .string(key)])
        command([.string("FCPublish"), .number(3), .null, .string(key)])
        command([.string("createStream"), .number(4), .null])
        command([.string("publish"), .number(5), .null, .string(key), .string("live")], stream: 1)
    }

    mutating func take() -> ByteBuffer {
        defer { bytes = ByteBuffer() }
        return bytes
    }
}

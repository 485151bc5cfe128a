import MediaCore
import NIOCore

@testable import RTP

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> ByteBuffer {
        var buffer = ByteBuffer()
        while buffer.readableBytes < count { buffer.writeInteger(next()) }
        buffer.moveWriterIndex(to: count)
        return buffer
    }

    mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(_: Integer.Type = Integer.self) -> Integer {
        Integer.random(in: Integer.min...Integer.max, using: &self)
    }

    /// Flips, overwrites, cuts, doubles or appends some bytes.
    mutating func mutate(_ buffer: ByteBuffer) -> ByteBuffer {
        var bytes = Array(buffer.readableBytesView)
        for _ in 0..<Int.random(in: 1...6, using: &self) {
            let position = bytes.isEmpty ? 0 : Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<6, using: &self) {
            case 0 where !bytes.isEmpty: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1 where !bytes.isEmpty: bytes[position] = integer()
            case 2 where !bytes.isEmpty: bytes[position] = [0x00, 0xFF, 0x7F, 0x80].randomElement(using: &self) ?? 0
            case 3: bytes.removeSubrange(position...)
            case 4: bytes.insert(contentsOf: bytes.prefix(position), at: position)
            default: bytes.append(integer())
            }
        }
        return ByteBuffer(bytes: bytes)
    }
}

extension ByteBuffer {
    /// Bytes written as hexadecimal digits; everything else is ignored.
    init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self.init(bytes: stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    var hex: String {
        readableBytesView.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }
}

extension MonotonicInstant {
    static func milliseconds(_ count: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: count * 1_000_000) }
}

extension RTPPacket {
    /// A video packet of which only the sequence number matters.
    static func numbered(_ sequenceNumber: UInt16) -> RTPPacket {
        RTPPacket(
            payloadType: 96, sequenceNumber: sequenceNumber, timestamp: UInt32(sequenceNumber) * 3000, ssrc: 1,
            payload: ByteBuffer(integer: sequenceNumber))
    }
}

extension JitterBuffer {
    /// All packets that are ready, in order.
    mutating func popReady(now: MonotonicInstant) -> [ReceivedPacket] {
        var ready: [ReceivedPacket] = []
        while let packet = popNext(now: now) { ready.append(packet) }
        return ready
    }
}

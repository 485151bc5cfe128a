import MediaCore
import NIOCore
import Testing

@testable import RTP

struct RTPPacketTests {
    @Test func `a bare packet reads as RFC 3550 draws it`() throws {
        let packet = try RTPPacket(parsing: ByteBuffer(hex: "80 E0 1234 00015F90 DEADBEEF 010203"))
        #expect(packet.payloadType == 96)
        #expect(packet.marker)
        #expect(packet.sequenceNumber == 0x1234)
        #expect(packet.timestamp == 90000)
        #expect(packet.ssrc == 0xDEAD_BEEF)
        #expect(packet.csrcs.isEmpty)
        #expect(packet.extensions.isEmpty)
        #expect(packet.payload == ByteBuffer(hex: "010203"))
    }

    @Test func `contributing sources, an extension and padding are told from the payload`() throws {
        let datagram = ByteBuffer(
            hex: "B2 60 0001 00000002 00000003 0000000A 0000000B BEDE0001 10FF0000 AABBCC 00000003")
        let packet = try RTPPacket(parsing: datagram)
        #expect(packet.csrcs == [10, 11])
        #expect(packet.extensions[1] == ByteBuffer(hex: "FF"))
        #expect(packet.payload == ByteBuffer(hex: "AABBCC00"))
        #expect(packet.paddingLength == 3)
        #expect(packet.headerSize == 28)
    }

    @Test func `a packet that is only padding has an empty payload`() throws {
        let packet = try RTPPacket(parsing: ByteBuffer(hex: "A0 60 0001 00000002 00000003 00000004"))
        #expect(packet.payload.readableBytes == 0)
        #expect(packet.paddingLength == 4)
    }

    @Test func `padding for a probe is written with its count`() throws {
        var packet = RTPPacket.numbered(7)
        packet.payload = ByteBuffer()
        packet.paddingLength = 200
        let encoded = packet.encode()
        #expect(encoded.readableBytes == 212)
        #expect(try RTPPacket(parsing: encoded) == packet)
    }

    @Test func `no padding is written unless asked for`() {
        let encoded = RTPPacket.numbered(7).encode()
        #expect(encoded.hex == "80600007000052080000000100 07".filter { $0 != " " })
    }

    @Test(arguments: [
        "80 60 0001 00000002 000000",
        "82 60 0001 00000002 00000003 0000000A",
        "90 60 0001 00000002 00000003 BEDE",
        "90 60 0001 00000002 00000003 BEDE0002 10FF0000",
    ])
    func `a packet cut short is an error`(hex: String) {
        #expect {
            try RTPPacket(parsing: ByteBuffer(hex: hex))
        } throws: { error in
            if case RTPError.truncated = error { true } else { false }
        }
    }

    @Test func `another version is an error`() {
        #expect(throws: RTPError.unsupportedVersion(1)) {
            try RTPPacket(parsing: ByteBuffer(hex: "40 60 0001 00000002 00000003"))
        }
    }

    @Test(arguments: [
        "A0 60 0001 00000002 00000003", "A0 60 0001 00000002 00000003 00", "A0 60 0001 00000002 00000003 0003",
    ])
    func `padding that is empty or longer than the rest is an error`(hex: String) {
        #expect {
            try RTPPacket(parsing: ByteBuffer(hex: hex))
        } throws: { error in
            if case RTPError.invalidPadding = error { true } else { false }
        }
    }

    @Test func `an error says what was cut short and what to do`() {
        let error = RTPError.truncated(structure: "RTP header", needed: 12, available: 3)
        #expect(error.description == "RTP header is cut short: it needs 12 bytes and 3 are left; drop the packet")
    }

    @Test func `more than fifteen contributing sources are cut to what the header can count`() throws {
        var packet = RTPPacket.numbered(1)
        packet.csrcs = Array(0..<20)
        let parsed = try RTPPacket(parsing: packet.encode())
        #expect(parsed.csrcs == Array(0..<15))
        #expect(parsed.payload == packet.payload)
    }

    @Test func `the payload shares the datagram's storage`() throws {
        let datagram = RTPPacket.numbered(9).encode()
        let payload = try RTPPacket(parsing: datagram).payload
        let outer = datagram.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let inner = payload.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(inner == outer + 12)
    }

    @Test func `random packets survive writing and reading`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let packet = Self.random(using: &generator)
            let encoded = packet.encode()
            #expect(encoded.readableBytes == packet.encodedSize)
            var parsed = try RTPPacket(parsing: encoded)
            for id in packet.extensions.ids { #expect(parsed.extensions[id] == packet.extensions[id]) }
            // The bytes of the extensions may end in padding now: compare the rest.
            #expect(parsed.extensions.ids == packet.extensions.ids)
            parsed.extensions = packet.extensions
            #expect(parsed == packet)
        }
    }

    @Test func `hostile bytes never trap`() {
        var generator = SeededGenerator(seed: 2)
        let originals = (0..<200).map { _ in Self.random(using: &generator).encode() }
        var accepted = 0
        for round in 0..<30_000 {
            let hostile = generator.mutate(originals[round % originals.count])
            guard var packet = try? RTPPacket(parsing: hostile) else { continue }
            accepted += 1
            for id in packet.extensions.ids { _ = packet.extensions[id] }
            _ = packet.extensions.audioLevel(id: 1)
            _ = packet.extensions.absoluteSendTime(id: 2)
            packet.extensions.setTransportSequenceNumber(0xABCD, id: 3)
            let written = try? RTPPacket(parsing: packet.encode())
            if written?.extensions.transportSequenceNumber(id: 3) != 0xABCD || written?.payload != packet.payload {
                Issue.record("\(hostile.hex) does not survive being written")
            }
        }
        #expect(accepted > 1000)
    }

    private static func random(using generator: inout SeededGenerator) -> RTPPacket {
        var packet = RTPPacket(
            payloadType: .random(in: 0...127, using: &generator), marker: .random(using: &generator),
            sequenceNumber: generator.integer(), timestamp: generator.integer(), ssrc: generator.integer(),
            payload: generator.bytes(.random(in: 0...40, using: &generator)))
        for _ in 0..<Int.random(in: 0...3, using: &generator) { packet.csrcs.append(generator.integer()) }
        let isTwoByte = Bool.random(using: &generator)
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let id = UInt8.random(in: 1...(isTwoByte ? 255 : 14), using: &generator)
            packet.extensions[id] = generator.bytes(.random(in: isTwoByte ? 0...30 : 1...16, using: &generator))
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
            packet.paddingLength = .random(in: 1...255, using: &generator)
        }
        return packet
    }
}

import MediaCore
import NIOCore
import Testing

@testable import RTP

/// Retransmissions in streams of their own, and the header extensions that tell lines and orientation.
struct RetransmissionTests {
    private var random = SeededGenerator(seed: 21)

    private func text(_ mid: ByteBufferView?) -> String? { mid.map { String(decoding: $0, as: UTF8.self) } }

    @Test mutating func `a packet comes out of its retransmission as it was`() throws {
        for _ in 0..<500 {
            var packet = RTPPacket(
                payloadType: 96, marker: .random(using: &random),
                sequenceNumber: .random(in: 0 ... .max, using: &random),
                timestamp: .random(in: 0 ... .max, using: &random), ssrc: 7,
                payload: ByteBuffer(
                    bytes: (0..<Int.random(in: 1...1200, using: &random)).map { UInt8(truncatingIfNeeded: $0) }))
            packet.extensions.setTransportSequenceNumber(.random(in: 0 ... .max, using: &random), id: 3)
            let sent = packet.retransmission(payloadType: 97, ssrc: 8, sequenceNumber: 11)
            #expect(sent.encodedSize == packet.encodedSize + RTPPacket.retransmissionOverhead)
            let received = try RTPPacket(parsing: sent.encode())
            #expect((received.payloadType, received.ssrc, received.sequenceNumber) == (97, 8, 11))
            let restored = try #require(received.original(payloadType: 96, ssrc: 7))
            #expect(restored.encode() == packet.encode())
        }
    }

    @Test func `padding in a stream of retransmissions repeats nothing`() {
        let padding = RTPPacket(
            payloadType: 97, sequenceNumber: 1, timestamp: 0, ssrc: 8, payload: ByteBuffer(), paddingLength: 255)
        #expect(padding.original(payloadType: 96, ssrc: 7) == nil)
        let cut = RTPPacket(
            payloadType: 97, sequenceNumber: 1, timestamp: 0, ssrc: 8, payload: ByteBuffer(bytes: [1]))
        #expect(cut.original(payloadType: 96, ssrc: 7) == nil)
    }

    @Test(arguments: VideoRotation.allCases) func `orientation is read as it was written`(rotation: VideoRotation) {
        var extensions = RTPHeaderExtensions()
        #expect(extensions.videoRotation(id: 4) == nil)
        extensions.setVideoRotation(rotation, id: 4)
        #expect(extensions.videoRotation(id: 4) == rotation)
        // The bits above select the camera and mirroring (3GPP TS 26.114, 7.4.5).
        extensions[4] = ByteBuffer(bytes: [rotation.rawValue | 0x0C])
        #expect(extensions.videoRotation(id: 4) == rotation)
    }

    @Test func `the line of a packet is read as it was written`() throws {
        var extensions = RTPHeaderExtensions()
        #expect(extensions.mid(id: 5) == nil)
        extensions.setMID("video-1".utf8, id: 5)
        #expect(text(extensions.mid(id: 5)) == "video-1")
        extensions.setMID("".utf8, id: 6)
        #expect(extensions.mid(id: 6) == nil)
    }

    @Test mutating func `extensions are found in front of what is encrypted, and never outside the datagram`() throws {
        var packet = RTPPacket(
            payloadType: 96, sequenceNumber: 1, timestamp: 2, ssrc: 3, csrcs: [9, 10],
            payload: ByteBuffer(bytes: [1, 2, 3]))
        packet.extensions.setMID("0".utf8, id: 5)
        let datagram = packet.encode()
        #expect(text(RTPHeaderExtensions(ofPacket: datagram)?.mid(id: 5)) == "0")
        #expect(RTPHeaderExtensions(ofPacket: ByteBuffer()) == nil)
        for _ in 0..<20_000 {
            var bytes = Array(
                datagram.readableBytesView.prefix(Int.random(in: 0...datagram.readableBytes, using: &random)))
            for _ in 0..<2 where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0 ... .max, using: &random)
            }
            if let extensions = RTPHeaderExtensions(ofPacket: ByteBuffer(bytes: bytes)) {
                #expect(extensions.encodedSize <= bytes.count + 4)
                _ = extensions.mid(id: 5)
            }
        }
    }
}

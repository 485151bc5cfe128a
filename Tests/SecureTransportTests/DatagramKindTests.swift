import NIOCore
import SecureTransport
import Testing

@Suite struct DatagramKindTests {
    private func kind(_ head: [UInt8], length: Int = 64) -> DatagramKind {
        let bytes = head + [UInt8](repeating: 0, count: max(0, length - head.count))
        return DatagramKind.classify(ByteBuffer(bytes: bytes.prefix(length)))
    }

    @Test("the first byte determines the protocol (RFC 7983)")
    func firstByte() {
        for first in UInt8.min...UInt8.max {
            let expected: DatagramKind =
                switch first {
                case 0...3: .stun
                case 20...63: .dtls
                case 64...79: .turnChannel
                case 128...191: .rtp
                default: .unknown
                }
            #expect(kind([first, 96]) == expected, "\(first)")
        }
    }

    @Test("RTCP is distinguished from RTP by its packet type")
    func rtcp() {
        for second in UInt8.min...UInt8.max {
            #expect(kind([0x80, second]) == ((192...223).contains(second) ? .rtcp : .rtp), "\(second)")
        }
    }

    @Test("a datagram too short for its protocol is unknown")
    func short() {
        #expect(kind([], length: 0) == .unknown)
        #expect(kind([0x80], length: 1) == .unknown)
        #expect(kind([0x80, 96], length: 11) == .unknown)
        #expect(kind([0x80, 96], length: 12) == .rtp)
        #expect(kind([0x80, 200], length: 7) == .unknown)
        #expect(kind([0x80, 200], length: 8) == .rtcp)
        #expect(kind([0, 1], length: 19) == .unknown)
        #expect(kind([22, 254], length: 12) == .unknown)
    }

    @Test("only the readable bytes count")
    func readableBytes() {
        var datagram = ByteBuffer(bytes: [0, 0] + [0x80, 96] + [UInt8](repeating: 0, count: 10))
        datagram.moveReaderIndex(forwardBy: 2)
        #expect(DatagramKind.classify(datagram) == .rtp)
    }
}

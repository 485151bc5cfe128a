import MediaCore
import NIOCore
import Testing

@testable import RTP

struct CongestionControlFeedbackTests {
    private typealias Arrival = CongestionControlFeedback.PacketArrival

    @Test func `two streams read and write as RFC 8888 draws them`() throws {
        let feedback = CongestionControlFeedback(
            senderSSRC: 1,
            streams: [
                .init(
                    ssrc: 2, beginSequence: 0xFFFF,
                    packets: [
                        Arrival(arrivalTimeOffset: 512), nil,
                        Arrival(ecn: .congestionExperienced, arrivalTimeOffset: 1),
                    ]),
                .init(ssrc: 3, beginSequence: 7, packets: [Arrival(ecn: .capable0, arrivalTimeOffset: 0x1FFF), nil]),
            ],
            reportTimestamp: 0xB705_2000)
        // Three reports are filled to a whole word, two are one.
        let expected = ByteBuffer(
            hex: """
                8BCD0009 00000001
                00000002 FFFF0003 82000000 E0010000
                00000003 00070002 DFFF0000
                B7052000
                """)
        #expect(RTCPPacket.encode([.congestionControlFeedback(feedback)]).hex == expected.hex)
        #expect(try RTCPPacket.parse(compound: expected) == [.congestionControlFeedback(feedback)])
    }

    @Test func `a count above 16384 is an error`() {
        var body = ByteBuffer(hex: "00000001 00000002 0000 4001")
        body.writeRepeatingByte(0, count: 0x4002 * 2 + 4)
        #expect {
            try CongestionControlFeedback(parsing: body)
        } throws: { error in
            if case RTPError.malformed = error { true } else { false }
        }
    }

    @Test func `a count that the bytes do not bear out is an error`() {
        #expect {
            try CongestionControlFeedback(parsing: ByteBuffer(hex: "00000001 00000002 0000 4000 80008000 00000000"))
        } throws: { error in
            if case RTPError.truncated = error { true } else { false }
        }
    }

    @Test(arguments: [
        (Duration.milliseconds(500), UInt16(512)), (.zero, 0), (.seconds(7), 7168), (.seconds(8), 0x1FFE),
        (.seconds(100_000), 0x1FFE), (.milliseconds(-1), 0x1FFF),
    ])
    func `an age is written in 1/1024 s`(age: Duration, offset: UInt16) {
        #expect(Arrival(age: age).arrivalTimeOffset == offset)
    }

    @Test func `an age reads back unless it is unknown or too large`() {
        #expect(Arrival(arrivalTimeOffset: 512).age == .milliseconds(500))
        #expect(Arrival(arrivalTimeOffset: 0x1FFE).age == nil)
        #expect(Arrival(arrivalTimeOffset: 0x1FFF).age == nil)
    }
}

import MediaCore
import NIOCore
import Testing

@testable import RTP

struct TransportFeedbackTests {
    /// A header with base sequence 100, reference time 2, feedback count 9 and the given status count and rest.
    private func parse(count: Int, _ rest: String) throws -> TransportFeedback {
        var body = ByteBuffer(hex: "00000001 00000002 0064")
        body.writeInteger(UInt16(truncatingIfNeeded: count))
        body.writeImmutableBuffer(ByteBuffer(hex: "000002 09" + rest))
        return try TransportFeedback(parsing: body)
    }

    private func feedback(deltas: [Int?], base: UInt16 = 100) -> TransportFeedback {
        TransportFeedback(
            senderSSRC: 1, mediaSSRC: 2, baseSequence: base, referenceTime: 2, feedbackCount: 9,
            packets: deltas.enumerated().compactMap { offset, delta in
                guard delta != nil || offset == deltas.count - 1 else { return nil }
                return PacketStatus(
                    sequence: base &+ UInt16(offset), receiveDelta: delta.map { PacketStatus.deltaUnit * $0 })
            })
    }

    /// The bytes behind the fixed fields.
    private func encodedRest(_ feedback: TransportFeedback) -> String {
        String(RTCPPacket.encode([.transportFeedback(feedback)]).hex.dropFirst(40))
    }

    private func statuses(_ feedback: TransportFeedback) -> String {
        String(deltas(feedback).map { $0 != nil ? "1" : "0" })
    }

    /// The receive deltas of all packets reported on, nil for missing ones.
    private func deltas(_ feedback: TransportFeedback) -> [Duration?] {
        (0..<feedback.statusCount).map { offset in
            feedback.packets.first { $0.sequence == feedback.baseSequence &+ UInt16(offset) }?.receiveDelta
        }
    }

    @Test func `a whole packet reads and writes byte for byte`() throws {
        // Two received 1 ms and 2 ms on, one lost, one received 1 s earlier: a vector of two-bit symbols.
        let expected = ByteBuffer(hex: "8FCD0006 00000001 00000002 00640004 00000209 D480 0408 F060 0000")
        let feedback = feedback(deltas: [4, 8, nil, -4000])
        #expect(RTCPPacket.encode([.transportFeedback(feedback)]).hex == expected.hex)
        #expect(try RTCPPacket.parse(compound: expected) == [.transportFeedback(feedback)])
        #expect(deltas(feedback) == [.milliseconds(1), .milliseconds(2), nil, .seconds(-1)])
    }

    @Test func `the reference time is signed`() throws {
        var body = ByteBuffer(hex: "00000001 00000002 0064 0001 FFFFFE 09 2001 00")
        #expect(try TransportFeedback(parsing: body).referenceTime == -2)
        body = ByteBuffer(hex: "00000001 00000002 0064 0001 800000 09 2001 00")
        #expect(try TransportFeedback(parsing: body).referenceTime == -0x80_0000)
    }

    @Test func `the draft's run of 221 lost packets reads`() throws {
        // Section 3.1.3: 0 00 0000011011101.
        let feedback = try parse(count: 221, "00DD")
        #expect(feedback.statusCount == 221)
        #expect(feedback.packets == [PacketStatus(sequence: 320, receiveDelta: nil)])
    }

    @Test func `the draft's vector of one-bit symbols reads`() throws {
        // Section 3.1.4: 1 0 01111100011100.
        let feedback = try parse(count: 14, "9F1C 0102030405060708")
        #expect(statuses(feedback) == "01111100011100")
        #expect(feedback.packets.compactMap(\.receiveDelta) == (1...8).map { PacketStatus.deltaUnit * $0 })
    }

    @Test func `a vector of two-bit symbols reads`() throws {
        // 1 1 00 10 01 01 01 00 00, after the draft's example, with a large delta for its reserved symbol.
        let feedback = try parse(count: 7, "C950 FFFF 010203")
        #expect(
            deltas(feedback) == [
                nil, .microseconds(-250), .microseconds(250), .microseconds(500), .microseconds(750), nil, nil,
            ])
    }

    @Test func `symbols of a last vector beyond the count are ignored`() throws {
        let feedback = try parse(count: 2, "BFFF 0102")
        #expect(feedback.packets.count == 2 && feedback.statusCount == 2)
    }

    @Test func `a run that is longer than the count is cut`() throws {
        #expect(try parse(count: 3, "3FFF 010203").packets.count == 3)
    }

    @Test func `a few bytes that stand for tens of thousands of packets are refused, alone and added up`() throws {
        #expect(throws: RTPError.self) {
            try parse(count: 65535, "1FFF 1FFF 1FFF 1FFF 1FFF 1FFF 1FFF 1FFF 0007")
        }
        let one = try parse(count: 8191, "1FFF 0000")
        #expect(one.packets.count == 1 && one.statusCount == 8191)
        let compound = RTCPPacket.encode([.transportFeedback(one), .transportFeedback(one)])
        #expect(throws: RTPError.self) { try RTCPPacket.parse(compound: compound) }
    }

    @Test func `sequence numbers go on across 65535`() throws {
        let wrapping = feedback(deltas: [1, nil, 2, 3], base: 65534)
        let encoded = RTCPPacket.encode([.transportFeedback(wrapping)])
        #expect(try RTCPPacket.parse(compound: encoded) == [.transportFeedback(wrapping)])
        #expect(wrapping.packets.map(\.sequence) == [65534, 0, 1])
    }

    @Test(arguments: [(1, "6001"), (1, "F000"), (1, "0000"), (2, "2000 2002 0101")])
    func `the reserved symbol and empty runs are errors`(count: Int, rest: String) {
        #expect {
            try parse(count: count, rest)
        } throws: { error in
            if case RTPError.malformed = error { true } else { false }
        }
    }

    @Test(arguments: [(1, ""), (8191, "3FFF 01"), (8192, "1FFF"), (2, "4002 0001 00")])
    func `a count that the bytes do not bear out is an error`(count: Int, rest: String) {
        #expect {
            try parse(count: count, rest)
        } throws: { error in
            if case RTPError.truncated = error { true } else { false }
        }
    }

    @Test func `a long run takes one chunk for each 8191 packets`() {
        #expect(encodedRest(feedback(deltas: Array(repeating: nil, count: 8191))) == "1fff" + "0000")
        #expect(encodedRest(feedback(deltas: Array(repeating: nil, count: 8192))) == "1fff" + "0001")
    }

    @Test func `scattered losses take one bit a packet`() {
        let deltas: [Int?] = (0..<28).map { $0 % 3 == 0 ? nil : 1 }
        let rest = encodedRest(feedback(deltas: deltas))
        // 0110 1101 1011 01, then 1011 0110 1101 10.
        #expect(rest.hasPrefix("9b6d" + "adb6"))
    }

    @Test func `a run of seven or more beats a vector of two-bit symbols`() {
        let deltas: [Int?] = Array(repeating: 1000, count: 7) + [1]
        #expect(encodedRest(feedback(deltas: deltas)).hasPrefix("4007" + "2001"))
    }

    @Test func `hundreds of packets in a row take a few bytes beside their deltas`() {
        let encoded = RTCPPacket.encode([.transportFeedback(feedback(deltas: Array(repeating: 3, count: 500)))])
        #expect(encoded.readableBytes == 20 + 2 + 500 + 2)
    }

    @Test func `sequence numbers left out are reported as lost`() throws {
        var sparse = feedback(deltas: [])
        sparse.packets = [102, 105].map { PacketStatus(sequence: $0, receiveDelta: .milliseconds(1)) }
        guard
            case .transportFeedback(let parsed) = try RTCPPacket.parse(
                compound: RTCPPacket.encode([.transportFeedback(sparse)])
            ).first
        else {
            Issue.record("not transport feedback")
            return
        }
        #expect(statuses(parsed) == "001001")
    }

    @Test func `rounding errors do not add up`() throws {
        var uneven = feedback(deltas: [])
        uneven.packets = (0..<100).map {
            PacketStatus(sequence: 100 + $0, receiveDelta: .microseconds(110))
        }
        guard
            case .transportFeedback(let parsed) = try RTCPPacket.parse(
                compound: RTCPPacket.encode([.transportFeedback(uneven)])
            ).first
        else {
            Issue.record("not transport feedback")
            return
        }
        let total = parsed.packets.compactMap(\.receiveDelta).reduce(Duration.zero, +)
        #expect(total == .microseconds(11_000))
    }

    @Test func `a delta beyond 8 seconds is held in range and made up for`() throws {
        var slow = feedback(deltas: [])
        slow.packets = [
            PacketStatus(sequence: 100, receiveDelta: .seconds(10)),
            PacketStatus(sequence: 101, receiveDelta: .milliseconds(1)),
        ]
        guard
            case .transportFeedback(let parsed) = try RTCPPacket.parse(
                compound: RTCPPacket.encode([.transportFeedback(slow)])
            ).first
        else {
            Issue.record("not transport feedback")
            return
        }
        #expect(parsed.packets.compactMap(\.receiveDelta).reduce(Duration.zero, +) == .milliseconds(10_001))
    }

    @Test func `a status stays small`() {
        #expect(MemoryLayout<PacketStatus>.stride <= 16)
    }
}

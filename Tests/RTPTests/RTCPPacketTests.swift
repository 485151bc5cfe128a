import MediaCore
import NIOCore
import Testing

@testable import RTP

struct RTCPPacketTests {
    /// Expects `packet` to be written as `hex`, and to be the same when read back.
    private func expect(_ packet: RTCPPacket, encodesAs hex: String, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let expected = ByteBuffer(hex: hex)
        #expect(RTCPPacket.encode([packet]).hex == expected.hex, sourceLocation: sourceLocation)
        #expect(try RTCPPacket.parse(compound: expected) == [packet], sourceLocation: sourceLocation)
    }

    @Test func `a sender report with one block`() throws {
        let block = ReportBlock(
            ssrc: 0x0A0B_0C0D, fractionLost: 0x40, cumulativeLost: -2, highestSequence: 0x0001_FFFE, jitter: 0x55,
            lastSenderReport: 0xB705_2000, delaySinceLastSenderReport: 0x0005_4000)
        let report = SenderReport(
            ssrc: 0x0102_0304, ntpTime: NTPTime(rawValue: 0xB44D_B705_2000_0000), rtpTimestamp: 0x1122_3344,
            packetCount: 7, octetCount: 1000, reports: [block])
        try expect(
            .senderReport(report),
            encodesAs: """
                81C8000C 01020304 B44DB705 20000000 11223344 00000007 000003E8
                0A0B0C0D 40FFFFFE 0001FFFE 00000055 B7052000 00054000
                """)
    }

    @Test func `a receiver report without blocks`() throws {
        try expect(.receiverReport(ReceiverReport(ssrc: 5)), encodesAs: "80C90001 00000005")
    }

    @Test func `a loss count beyond 24 bits is held in range`() throws {
        let blocks = [
            ReportBlock(ssrc: 1, cumulativeLost: .max), ReportBlock(ssrc: 2, cumulativeLost: .min),
        ]
        let encoded = RTCPPacket.encode([.receiverReport(ReceiverReport(ssrc: 5, reports: blocks))])
        guard case .receiverReport(let report) = try RTCPPacket.parse(compound: encoded).first else {
            Issue.record("not a receiver report")
            return
        }
        #expect(report.reports.map(\.cumulativeLost) == [0x7F_FFFF, -0x80_0000])
    }

    @Test func `report blocks beyond the 31st go on in receiver reports`() throws {
        let blocks = (0..<70).map { ReportBlock(ssrc: UInt32($0)) }
        let report = SenderReport(
            ssrc: 9, ntpTime: NTPTime(rawValue: 1), rtpTimestamp: 2, packetCount: 3, octetCount: 4, reports: blocks)
        let packets = try RTCPPacket.parse(compound: RTCPPacket.encode([.senderReport(report)]))
        var ssrcs: [UInt32] = []
        for packet in packets {
            switch packet {
            case .senderReport(let report): ssrcs += report.reports.map(\.ssrc)
            case .receiverReport(let report): ssrcs += report.reports.map(\.ssrc)
            default: Issue.record("unexpected \(packet)")
            }
        }
        #expect(packets.count == 3)
        #expect(ssrcs == Array(0..<70))
    }

    @Test func `a canonical name is ended by a zero and padded to a word`() throws {
        let description = SourceDescription(chunks: [.init(ssrc: 1, cname: "ab@cd"), .init(ssrc: 2, cname: "xy")])
        try expect(
            .sourceDescription(description),
            encodesAs: "82CA0006 00000001 0105 6162406364 00 00000002 0102 7879 00000000")
        #expect(description.chunks.first?.cname == "ab@cd")
    }

    @Test func `a source description whose last terminator is missing still reads`() throws {
        let packets = try RTCPPacket.parse(compound: ByteBuffer(hex: "81CA0002 00000001 01027879"))
        #expect(packets == [.sourceDescription(SourceDescription(chunks: [.init(ssrc: 1, cname: "xy")]))])
    }

    @Test func `a text that is too long is cut between two characters`() throws {
        let text = String(repeating: "é", count: 200)
        let packet = RTCPPacket.sourceDescription(SourceDescription(chunks: [.init(ssrc: 1, cname: text)]))
        guard
            case .sourceDescription(let parsed) = try RTCPPacket.parse(compound: RTCPPacket.encode([packet])).first
        else {
            Issue.record("not a source description")
            return
        }
        #expect(parsed.chunks.first?.cname == String(repeating: "é", count: 127))
    }

    @Test func `a goodbye with a reason`() throws {
        try expect(
            .bye(Goodbye(ssrcs: [1, 2], reason: "closing")),
            encodesAs: "82CB0004 00000001 00000002 07 636C6F73696E67")
        try expect(.bye(Goodbye(ssrcs: [1])), encodesAs: "81CB0001 00000001")
    }

    @Test func `a goodbye of many sources is written as several`() throws {
        let ssrcs = Array(UInt32(0)..<40)
        let packets = try RTCPPacket.parse(compound: RTCPPacket.encode([.bye(Goodbye(ssrcs: ssrcs))]))
        #expect(packets == [.bye(Goodbye(ssrcs: Array(0..<31))), .bye(Goodbye(ssrcs: Array(31..<40)))])
    }

    @Test func `missing packets are packed into a first one and a mask of the 16 behind it`() throws {
        let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [100, 101, 116, 117])
        try expect(.genericNACK(nack), encodesAs: "81CD0004 00000001 00000002 0064 8001 0075 0000")
    }

    @Test func `missing packets are packed across 65535`() throws {
        let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65535, 0, 3])
        try expect(.genericNACK(nack), encodesAs: "81CD0003 00000001 00000002 FFFF 0009")
    }

    @Test func `a sequence number asked for twice is written once`() throws {
        let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [7, 7, 8, 8])
        let encoded = RTCPPacket.encode([.genericNACK(nack)])
        #expect(encoded.hex == ByteBuffer(hex: "81CD0003 00000001 00000002 0007 0001").hex)
    }

    @Test func `a picture loss indication`() throws {
        try expect(
            .pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
            encodesAs: "81CE0002 00000001 00000002")
    }

    @Test func `a picture that has arrived is named by its timestamp`() throws {
        try expect(
            .referencePictureSelection(
                ReferencePictureSelectionIndication(
                    senderSSRC: 1, mediaSSRC: 2, payloadType: 96, timestamp: 0x1234_5678)),
            encodesAs: "83CE0004 00000001 00000002 10 60 12345678 0000")
    }

    @Test func `a picture that is named in another way is skipped`() throws {
        for hex in ["83CE0003 00000001 00000002 10 60 1234", "83CE0004 00000001 00000002 08 60 123456780000"] {
            guard case .other = try RTCPPacket.parse(compound: ByteBuffer(hex: hex)).first else {
                Issue.record("\(hex) was taken for a timestamp")
                return
            }
        }
    }

    @Test func `a full intra request names its sources in entries`() throws {
        let request = FullIntraRequest(
            senderSSRC: 1, entries: [.init(ssrc: 2, commandSequence: 0xFE), .init(ssrc: 3, commandSequence: 1)])
        try expect(
            .fullIntraRequest(request), encodesAs: "84CE0006 00000001 00000000 00000002 FE000000 00000003 01000000")
    }

    @Test func `a maximum bitrate is 18 bits shifted by 6`() throws {
        let remb = REMB(senderSSRC: 1, bitRate: BitRate(bitsPerSecond: Int64(522_022)), ssrcs: [2, 3])
        try expect(
            .receiverEstimatedMaximumBitrate(remb),
            encodesAs: "8FCE0006 00000001 00000000 52454D42 0207FB93 00000002 00000003")
    }

    @Test func `a maximum bitrate that does not fit is rounded down`() throws {
        let remb = REMB(senderSSRC: 1, bitRate: BitRate(bitsPerSecond: Int64(5_000_001)), ssrcs: [])
        guard
            case .receiverEstimatedMaximumBitrate(let parsed) = try RTCPPacket.parse(
                compound: RTCPPacket.encode([.receiverEstimatedMaximumBitrate(remb)])
            ).first
        else {
            Issue.record("not a REMB")
            return
        }
        #expect(parsed.bitRate.bitsPerSecond == 5_000_000 / 32 * 32)
    }

    @Test(arguments: [
        ("00FFFFFF", Int64.max), ("00B7FFFF", 0x3FFFF << 45), ("00BBFFFF", .max), ("00B80001", 1 << 46),
        ("00FC0000", 0),
    ])
    func `a maximum bitrate beyond 63 bits saturates`(fields: String, expected: Int64) throws {
        let hex = "8FCE0004 00000001 00000000 52454D42 " + fields
        guard
            case .receiverEstimatedMaximumBitrate(let parsed) = try RTCPPacket.parse(compound: ByteBuffer(hex: hex))
                .first
        else {
            Issue.record("not a REMB")
            return
        }
        #expect(parsed.bitRate.bitsPerSecond == expected)
    }

    @Test func `a request for a maximum bitrate has 17 bits of it, shifted, and the overhead`() throws {
        // 131071 << 4 bit/s, 40 bytes: 4 << 26 | 0x1FFFF << 9 | 40
        let limit = BitRateLimit(
            ssrc: 2, maximum: BitRate(bitsPerSecond: Int64(131_071 << 4)), overhead: DataSize(bytes: 40))
        try expect(
            .maximumBitRateRequest(BitRateLimits(senderSSRC: 1, limits: [limit])),
            encodesAs: "83CD0004 00000001 00000000 00000002 13FFFE28")
        try expect(
            .maximumBitRateNotification(BitRateLimits(senderSSRC: 1, limits: [limit])),
            encodesAs: "84CD0004 00000001 00000000 00000002 13FFFE28")
    }

    @Test func `a notification without bounds says that there are none`() throws {
        try expect(
            .maximumBitRateNotification(BitRateLimits(senderSSRC: 1, limits: [])),
            encodesAs: "84CD0002 00000001 00000000")
    }

    @Test func `a requested bitrate is rounded down, its overhead held in nine bits`() throws {
        let limit = BitRateLimit(
            ssrc: 2, maximum: BitRate(bitsPerSecond: Int64(1_000_003)), overhead: DataSize(bytes: 4000))
        let packets = try RTCPPacket.parse(
            compound: RTCPPacket.encode([.maximumBitRateRequest(BitRateLimits(senderSSRC: 1, limits: [limit]))]))
        guard case .maximumBitRateRequest(let request) = packets.first else {
            Issue.record("not a request")
            return
        }
        #expect(request.limits.map(\.maximum.bitsPerSecond) == [1_000_003 / 8 * 8])
        #expect(request.limits.map(\.overhead.bytes) == [511])
    }

    @Test func `a requested bitrate beyond 63 bits saturates, and a bound that is cut off is refused`() throws {
        let packets = try RTCPPacket.parse(compound: ByteBuffer(hex: "83CD0004 00000001 00000000 00000002 FFFFFE00"))
        guard case .maximumBitRateRequest(let request) = packets.first else {
            Issue.record("not a request")
            return
        }
        #expect(request.limits.map(\.maximum.bitsPerSecond) == [.max])
        #expect(throws: RTPError.self) {
            try RTCPPacket.parse(compound: ByteBuffer(hex: "83CD0003 00000001 00000000 00000002"))
        }
        #expect(throws: RTPError.self) { try RTCPPacket.parse(compound: ByteBuffer(hex: "84CD0001 00000001")) }
    }

    @Test func `application layer feedback that is no REMB is left alone`() throws {
        let other = OtherRTCPPacket(
            packetType: 206, countOrFormat: 15, body: ByteBuffer(hex: "000000010000000200000003"))
        try expect(.other(other), encodesAs: "8FCE0003 00000001 00000002 00000003")
    }

    @Test func `unknown types are skipped, what is behind them reads`() throws {
        let packets = try RTCPPacket.parse(
            compound: ByteBuffer(hex: "80CC0002 00000001 41424344  85CF0001 00000001  81CE0002 00000001 00000002"))
        #expect(packets.count == 3)
        #expect(packets.last == .pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)))
    }

    @Test func `padding of the last packet is taken off`() throws {
        let packets = try RTCPPacket.parse(compound: ByteBuffer(hex: "A1CD0004 00000001 00000002 00070000 00000004"))
        #expect(packets == [.genericNACK(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [7]))])
    }

    @Test(arguments: [
        "", "80C9", "80C90001 000000", "80C90002 00000001", "81C90001 00000001", "81CD0001 00000001",
        "81CE0001 00000001", "84CE0003 00000001 00000000 00000002", "81CB0000",
        "8FCE0004 00000001 00000000 52454D42 02000000", "81CA0002 00000001 01FF7879",
    ])
    func `a packet cut short is an error`(hex: String) {
        #expect {
            try RTCPPacket.parse(compound: ByteBuffer(hex: hex))
        } throws: { error in
            if case RTPError.truncated = error { true } else { false }
        }
    }

    @Test func `what comes before a packet with a malformed body is read`() throws {
        // A goodbye that tells of more sources than it has, behind a report, and before one.
        let report = "80C90001 00000005"
        let goodbye = "82CB0001 00000005"
        let packets = try RTCPPacket.parse(compound: ByteBuffer(hex: "\(report) \(goodbye) \(report)"))
        #expect(packets == [.receiverReport(ReceiverReport(ssrc: 5))])
        #expect(throws: RTPError.self) { try RTCPPacket.parse(compound: ByteBuffer(hex: "\(goodbye) \(report)")) }
    }

    @Test func `another version is an error`() {
        #expect(throws: RTPError.unsupportedVersion(0)) {
            try RTCPPacket.parse(compound: ByteBuffer(hex: "80C90001 00000005 00C90001 00000005"))
        }
    }

    @Test func `random packets survive writing and reading`() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<1500 {
            let packets = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                RTCPPacket.random(using: &generator)
            }
            #expect(try RTCPPacket.parse(compound: RTCPPacket.encode(packets)) == packets)
        }
    }

    @Test func `hostile bytes never trap`() {
        var generator = SeededGenerator(seed: 5)
        let originals = (0..<400).map { _ in RTCPPacket.encode([.random(using: &generator)]) }
        var accepted = 0
        for round in 0..<30_000 {
            let hostile = generator.mutate(originals[round % originals.count])
            guard let packets = try? RTCPPacket.parse(compound: hostile) else { continue }
            accepted += 1
            if (try? RTCPPacket.parse(compound: RTCPPacket.encode(packets))) == nil {
                Issue.record("\(hostile.hex) does not survive being written")
            }
        }
        #expect(accepted > 1000)
    }

    @Test func `random bytes behind every known header never trap`() {
        var generator = SeededGenerator(seed: 6)
        for type in UInt8(200)...207 {
            for countOrFormat in UInt8(0)...31 {
                for _ in 0..<40 {
                    let words = UInt16.random(in: 0...24, using: &generator)
                    var datagram = ByteBuffer()
                    datagram.writeMultipleIntegers(0x80 | countOrFormat, type, words)
                    datagram.writeImmutableBuffer(generator.bytes(Int(words) * 4))
                    _ = try? RTCPPacket.parse(compound: datagram)
                }
            }
        }
    }
}

import HostileBytes
import MediaCore
import NIOCore
import SecureTransport
import Testing

/// Packets and contexts for tests.
enum SRTPFixture {
    static func keys(_ profile: SRTPProfile, seed: UInt64 = 1) -> SRTPKeyMaterial {
        var generator = SeededGenerator(seed: seed)
        return SRTPKeyMaterial(profile: profile, using: &generator)
    }

    static func rtp(sequence: UInt16, ssrc: UInt32 = 0xCAFE_BABE, payload: Int = 200, room: Int = 64) -> ByteBuffer {
        var packet = ByteBuffer()
        packet.reserveCapacity(12 + payload + room)
        packet.writeBytes([0x80, 96])
        packet.writeInteger(sequence)
        packet.writeInteger(UInt32(sequence) &* 3000)
        packet.writeInteger(ssrc)
        packet.writeBytes((0..<payload).map { UInt8(truncatingIfNeeded: $0 &+ Int(sequence)) })
        return packet
    }

    static func rtcp(ssrc: UInt32 = 0xCAFE_BABE) -> ByteBuffer {
        var packet = ByteBuffer(bytes: [0x81, 206, 0, 2])
        packet.writeInteger(ssrc)
        packet.writeInteger(UInt32(0x1234_5678))
        return packet
    }

    static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static func refusal(_ body: () throws -> Void) -> SRTPError? {
        do {
            try body()
            return nil
        } catch { return error as? SRTPError }
    }
}

@Suite struct SRTPContextTests {
    private typealias Fixture = SRTPFixture

    @Test(
        "a packet is protected as other implementations do it",
        arguments: [
            (
                SRTPProfile.aesCM128HMACSHA1_80, "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6",
                "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb",
                "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798"
            ),
            (
                SRTPProfile.aeadAES128GCM, "000102030405060708090a0b0c0d0e0fa0a1a2a3a4a5a6a7a8a9aaab",
                "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392",
                "81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001"
            ),
        ])
    func knownAnswers(profile: SRTPProfile, key: String, srtp: String, srtcp: String) throws {
        let keys = try #require(SRTPKeyMaterial(profile: profile, masterKeyAndSalt: Fixture.bytes(key)))
        let context = try SRTPContext(keys: keys, direction: .outbound)
        let payload = [UInt8](repeating: 0xAB, count: 16)
        var rtp = ByteBuffer(bytes: Fixture.bytes("800f1234decafbadcafebabe") + payload)
        try context.protect(rtp: &rtp)
        #expect(Array(rtp.readableBytesView) == Fixture.bytes(srtp))
        var rtcp = ByteBuffer(bytes: Fixture.bytes("81c8000bcafebabe") + payload)
        try context.protect(rtcp: &rtcp)
        #expect(Array(rtcp.readableBytesView) == Fixture.bytes(srtcp))
    }

    @Test("one side unprotects the other's packets", arguments: SRTPProfile.allCases)
    func roundTrip(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        for sequence in UInt16(0)..<300 {
            let plain = Fixture.rtp(
                sequence: sequence, ssrc: sequence.isMultiple(of: 3) ? 5 : 6, payload: Int(sequence) * 4)
            var packet = plain
            try sender.protect(rtp: &packet)
            #expect(packet.readableBytes == plain.readableBytes + profile.rtpTrailerLength)
            #expect(packet != plain)
            try receiver.unprotect(rtp: &packet)
            #expect(packet == plain)

            let report = Fixture.rtcp(ssrc: UInt32(sequence % 7))
            var control = report
            try sender.protect(rtcp: &control)
            #expect(control.readableBytes == report.readableBytes + profile.rtcpTrailerLength)
            try receiver.unprotect(rtcp: &control)
            #expect(control == report)
        }
    }

    @Test("sequence numbers may wrap many times", arguments: SRTPProfile.allCases)
    func rollover(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        for step in 0..<40 {
            let plain = Fixture.rtp(sequence: UInt16(truncatingIfNeeded: step * 8_192), payload: 8)
            var packet = plain
            try sender.protect(rtp: &packet)
            try receiver.unprotect(rtp: &packet)
            #expect(packet == plain)
        }
    }

    @Test("a replayed packet is distinguished from a forged one", arguments: SRTPProfile.allCases)
    func replay(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        var packet = Fixture.rtp(sequence: 1)
        try sender.protect(rtp: &packet)
        var control = Fixture.rtcp()
        try sender.protect(rtcp: &control)
        var (first, second) = (packet, packet)
        try receiver.unprotect(rtp: &first)
        #expect(Fixture.refusal { try receiver.unprotect(rtp: &second) } == .replayed)
        var (firstControl, secondControl) = (control, control)
        try receiver.unprotect(rtcp: &firstControl)
        #expect(Fixture.refusal { try receiver.unprotect(rtcp: &secondControl) } == .replayed)

        var forged = Fixture.rtp(sequence: 2)
        try sender.protect(rtp: &forged)
        let last = forged.writerIndex - 1
        forged.setInteger(forged.getInteger(at: last, as: UInt8.self).map { $0 ^ 1 } ?? 0, at: last)
        #expect(Fixture.refusal { try receiver.unprotect(rtp: &forged) } == .authenticationFailed)
    }

    @Test("a packet 1000 numbers late is accepted, one 1100 numbers late is not", arguments: SRTPProfile.allCases)
    func window(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        var packets: [UInt16: ByteBuffer] = [:]
        for sequence: UInt16 in [1, 101, 1101] {
            var packet = Fixture.rtp(sequence: sequence)
            try sender.protect(rtp: &packet)
            packets[sequence] = packet
        }
        func receive(_ sequence: UInt16) throws {
            var packet = try #require(packets[sequence])
            try receiver.unprotect(rtp: &packet)
        }
        try receive(1101)
        try receive(101)
        #expect(Fixture.refusal { try receive(1) } == .replayed)
    }

    @Test("protecting a sequence number twice is refused", arguments: SRTPProfile.allCases)
    func protectTwice(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        var (first, second) = (Fixture.rtp(sequence: 9), Fixture.rtp(sequence: 9))
        try sender.protect(rtp: &first)
        #expect(Fixture.refusal { try sender.protect(rtp: &second) } == .replayed)
    }

    @Test("keys of another session and of another profile fail authentication", arguments: SRTPProfile.allCases)
    func wrongKeys(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        var packet = Fixture.rtp(sequence: 1)
        try sender.protect(rtp: &packet)
        for other in SRTPProfile.allCases {
            let receiver = try SRTPContext(keys: Fixture.keys(other, seed: 2), direction: .inbound)
            var copy = packet
            #expect(Fixture.refusal { try receiver.unprotect(rtp: &copy) } == .authenticationFailed)
        }
    }

    @Test("a packet with room for the trailer changes in place", arguments: SRTPProfile.allCases)
    func inPlace(profile: SRTPProfile) throws {
        func address(_ buffer: ByteBuffer) -> UInt {
            buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        var packet = Fixture.rtp(sequence: 1)
        let before = address(packet)
        try sender.protect(rtp: &packet)
        #expect(address(packet) == before)
        try receiver.unprotect(rtp: &packet)
        #expect(address(packet) == before)
    }

    @Test("a shared packet's other owner keeps its bytes", arguments: SRTPProfile.allCases)
    func shared(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let plain = Fixture.rtp(sequence: 1)
        var packet = plain
        try sender.protect(rtp: &packet)
        #expect(plain == Fixture.rtp(sequence: 1))
    }

    @Test("a packet may start anywhere in its storage and be a slice of another", arguments: SRTPProfile.allCases)
    func unaligned(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        for offset in 0..<8 {
            let plain = Fixture.rtp(sequence: UInt16(offset))
            var storage = ByteBuffer(repeating: 0xFF, count: offset)
            storage.writeImmutableBuffer(plain)
            storage.writeRepeatingByte(0xEE, count: 3)
            var packet = try #require(storage.getSlice(at: offset, length: plain.readableBytes))
            try sender.protect(rtp: &packet)
            var moved = ByteBuffer(repeating: 0xFF, count: offset)
            moved.writeImmutableBuffer(packet)
            moved.moveReaderIndex(forwardBy: offset)
            try receiver.unprotect(rtp: &moved)
            #expect(moved == plain)
        }
    }

    @Test("lengths and headers are checked before the library sees them", arguments: SRTPProfile.allCases)
    func lengths(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        for length in 0..<(12 + profile.rtpTrailerLength) {
            var packet = ByteBuffer(bytes: ([0x80, 96] + [UInt8](repeating: 0, count: 62)).prefix(length))
            #expect(Fixture.refusal { try receiver.unprotect(rtp: &packet) } == .tooShort(byteCount: length))
        }
        for length in 0..<(8 + profile.rtcpTrailerLength) {
            var packet = ByteBuffer(bytes: ([0x80, 201] + [UInt8](repeating: 0, count: 62)).prefix(length))
            #expect(Fixture.refusal { try receiver.unprotect(rtcp: &packet) } == .tooShort(byteCount: length))
        }
        var long = Fixture.rtp(sequence: 1, payload: 65_535 - 12)
        #expect(Fixture.refusal { try sender.protect(rtp: &long) } == .tooLong(byteCount: 65_535))
        // Version 1; 15 CSRCs that are not there; an extension longer than the packet.
        for head: [UInt8] in [[0x40, 96], [0x8F, 96], [0x90, 96]] {
            var packet = ByteBuffer(bytes: head + [UInt8](repeating: 0xFF, count: 40))
            var copy = packet
            #expect(Fixture.refusal { try sender.protect(rtp: &packet) } == .malformedHeader)
            #expect(Fixture.refusal { try receiver.unprotect(rtp: &copy) } == .malformedHeader)
        }
    }

    @Test("a context serves its own direction only")
    func directions() throws {
        let keys = Fixture.keys(.aeadAES128GCM)
        let sender = try SRTPContext(keys: keys, direction: .outbound)
        let receiver = try SRTPContext(keys: keys, direction: .inbound)
        var packet = Fixture.rtp(sequence: 1)
        #expect(Fixture.refusal { try sender.unprotect(rtp: &packet) } == .wrongDirection)
        #expect(Fixture.refusal { try sender.unprotect(rtcp: &packet) } == .wrongDirection)
        #expect(Fixture.refusal { try receiver.protect(rtp: &packet) } == .wrongDirection)
        #expect(Fixture.refusal { try receiver.protect(rtcp: &packet) } == .wrongDirection)
    }

    @Test("one key serves a limited number of sources, and known ones continue")
    func sourceLimit() throws {
        let keys = Fixture.keys(.aeadAES128GCM)
        let receiver = try SRTPContext(keys: keys, direction: .inbound)
        func packet(_ ssrc: UInt32, sequence: UInt16) throws -> ByteBuffer {
            // A sender of its own, for the limit holds for senders too.
            let sender = try SRTPContext(keys: keys, direction: .outbound)
            var packet = Fixture.rtp(sequence: sequence, ssrc: ssrc)
            try sender.protect(rtp: &packet)
            return packet
        }
        let limit = SRTPContext.maximumSourceCount
        for ssrc in 0..<UInt32(limit) {
            var accepted = try packet(ssrc, sequence: 1)
            try receiver.unprotect(rtp: &accepted)
        }
        var refused = try packet(UInt32(limit), sequence: 1)
        #expect(Fixture.refusal { try receiver.unprotect(rtp: &refused) } == .tooManySources(limit: limit))
        var known = try packet(0, sequence: 2)
        try receiver.unprotect(rtp: &known)
    }

    @Test("a context has as many places for sources as it is given")
    func givenLimit() throws {
        let sender = try SRTPContext(
            keys: Fixture.keys(.aeadAES128GCM), direction: .outbound, maximumSourceCount: 100)
        for ssrc in UInt32(0)..<100 {
            var packet = Fixture.rtp(sequence: 1, ssrc: ssrc)
            try sender.protect(rtp: &packet)
        }
        var refused = Fixture.rtp(sequence: 1, ssrc: 100)
        #expect(Fixture.refusal { try sender.protect(rtp: &refused) } == .tooManySources(limit: 100))
    }

    @Test("an ended source gives its place to a new one, and is then refused", arguments: SRTPProfile.allCases)
    func endedSources(profile: SRTPProfile) throws {
        let keys = Fixture.keys(profile)
        let sender = try SRTPContext(keys: keys, direction: .outbound)
        let receiver = try SRTPContext(keys: keys, direction: .inbound)
        let limit = UInt32(SRTPContext.maximumSourceCount)
        var first: ByteBuffer?
        for ssrc in 0..<limit {
            var packet = Fixture.rtp(sequence: 1, ssrc: ssrc)
            try sender.protect(rtp: &packet)
            if ssrc == 0 { first = packet }
            try receiver.unprotect(rtp: &packet)
        }
        for context in [sender, receiver] { context.endSources { $0 >= 2 } }
        // An ended source that comes back keeps its place.
        var back = Fixture.rtp(sequence: 2, ssrc: 1)
        try sender.protect(rtp: &back)
        try receiver.unprotect(rtp: &back)

        var new = Fixture.rtp(sequence: 1, ssrc: limit)
        try sender.protect(rtp: &new)
        try receiver.unprotect(rtp: &new)
        var again = Fixture.rtp(sequence: 1, ssrc: 0)
        #expect(Fixture.refusal { try sender.protect(rtp: &again) } == .replayed)
        var replay = try #require(first)
        #expect(Fixture.refusal { try receiver.unprotect(rtp: &replay) } == .replayed)
        var next = Fixture.rtp(sequence: 1, ssrc: limit + 1)
        #expect(Fixture.refusal { try sender.protect(rtp: &next) } == .tooManySources(limit: Int(limit)))
    }

    @Test("no changed packet is accepted, and the unchanged one still is", arguments: SRTPProfile.allCases)
    func hostilePackets(profile: SRTPProfile) throws {
        let sender = try SRTPContext(keys: Fixture.keys(profile), direction: .outbound)
        let receiver = try SRTPContext(keys: Fixture.keys(profile), direction: .inbound)
        var generator = SeededGenerator(seed: 42)
        var rtp = Fixture.rtp(sequence: 7, payload: 60)
        try sender.protect(rtp: &rtp)
        var rtcp = Fixture.rtcp()
        try sender.protect(rtcp: &rtcp)
        let (rtpBytes, rtcpBytes) = (Array(rtp.readableBytesView), Array(rtcp.readableBytesView))
        var accepted = 0
        for _ in 0..<15_000 {
            let bytes = generator.mutate(rtpBytes)
            var packet = ByteBuffer(bytes: bytes)
            if bytes != rtpBytes, (try? receiver.unprotect(rtp: &packet)) != nil { accepted += 1 }
            let control = generator.mutate(rtcpBytes)
            packet = ByteBuffer(bytes: control)
            if control != rtcpBytes, (try? receiver.unprotect(rtcp: &packet)) != nil { accepted += 1 }
        }
        #expect(accepted == 0)
        try receiver.unprotect(rtp: &rtp)
        try receiver.unprotect(rtcp: &rtcp)
    }
}

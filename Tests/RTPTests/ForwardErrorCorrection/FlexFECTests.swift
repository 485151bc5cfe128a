import MediaCore
import NIOCore
import RTP
import Testing

/// A stream of video packets with header extensions, its encoder and a decoder.
struct ProtectedStream {
    static let extensions = MutableExtensions(transportSequenceNumber: 3, absoluteSendTime: 2)

    var random = SeededGenerator(seed: 11)
    var encoder: FlexFECEncoder
    var decoder = FlexFECDecoder(ssrc: 7, mutableExtensions: extensions)
    var sequenceNumber: UInt16 = 65_530
    var transportSequence: UInt16 = 0
    var now = MonotonicInstant.milliseconds(5000)

    init(_ protection: Protection) {
        var random = SeededGenerator(seed: 5)
        encoder = FlexFECEncoder(
            ssrc: 9, payloadType: 49, mutableExtensions: Self.extensions, using: &random)
        encoder.setProtection(protection)
    }

    /// The next packet as it leaves.
    mutating func packet(marker: Bool = false, size: Int? = nil) -> RTPPacket {
        var packet = RTPPacket(
            payloadType: 102, marker: marker, sequenceNumber: sequenceNumber, timestamp: random.integer(), ssrc: 7,
            payload: random.bytes(size ?? Int.random(in: 1...1100, using: &random)))
        if Bool.random(using: &random) { packet.extensions.setMID("video".utf8, id: 4) }
        packet.extensions.setAbsoluteSendTime(now, id: 2)
        packet.extensions.setTransportSequenceNumber(transportSequence, id: 3)
        sequenceNumber &+= 1
        transportSequence &+= 1
        now += .milliseconds(3)
        return packet
    }

    /// A frame of `count` packets, and the repair packets that the encoder makes for it.
    mutating func frame(_ count: Int) -> (media: [RTPPacket], repair: [RTPPacket]) {
        var media: [RTPPacket] = []
        var repair: [RTPPacket] = []
        for index in 0..<count {
            let packet = packet(marker: index == count - 1)
            media.append(packet)
            repair += encoder.add(packet, bytes: packet.encode(), now: now)
        }
        return (media, repair)
    }

    /// The packets that the decoder hands on or restores after these have arrived.
    mutating func receive(media: [RTPPacket], repair: [RTPPacket]) -> [RTPPacket] {
        var recovered: [RTPPacket] = []
        for packet in media { recovered += decoder.insert(packet, bytes: packet.encode()) }
        for packet in repair { recovered += decoder.insert(repair: packet.payload) }
        return recovered
    }
}

extension RTPPacket {
    /// The packet with zeros in place of the values that are written on sending.
    var withoutSendTime: RTPPacket {
        var packet = self
        packet.extensions[2] = ByteBuffer(bytes: [0, 0, 0])
        packet.extensions[3] = ByteBuffer(bytes: [0, 0])
        // Parsed again, so that the padding of the extensions is compared too.
        return (try? RTPPacket(parsing: packet.encode())) ?? packet
    }
}

@Suite struct FlexFECTests {
    /// The decoder begins to keep packets with the first repair packet.
    static func begun(_ protection: Protection) -> ProtectedStream {
        var stream = ProtectedStream(protection)
        let (media, repair) = stream.frame(20)
        #expect(stream.receive(media: media, repair: repair).isEmpty)
        return stream
    }

    @Test("each packet of a group, and it alone, is recovered with all its bytes", arguments: [1, 2, 5, 16, 40])
    func eachPacket(count: Int) {
        for missing in 0..<count {
            var stream = Self.begun(Protection(rate: 0.01, delay: .zero))
            let (media, repair) = stream.frame(count)
            #expect(repair.count == 1)
            var arrived = media
            let lost = arrived.remove(at: missing)
            let recovered = stream.receive(media: arrived, repair: repair)
            #expect(recovered == [lost.withoutSendTime])
            #expect(stream.decoder.statistics.recovered == 1)
        }
    }

    @Test("a burst as long as there are repair packets is recovered when they are interleaved")
    func burst() {
        for start in 0...16 {
            var stream = Self.begun(Protection(rate: 0.01, burst: 4, pattern: .interleaved))
            let (media, repair) = stream.frame(20)
            #expect(repair.count == 4)
            let lost = media[start..<(start + 4)].map(\.withoutSendTime)
            let recovered = stream.receive(media: Array(media[..<start] + media[(start + 4)...]), repair: repair)
            #expect(recovered.sorted { $0.sequenceNumber &- 60_000 < $1.sequenceNumber &- 60_000 } == lost)
        }
    }

    @Test("a packet that was restored by a repair packet helps to restore another one, in any order of arrival")
    func iterates() {
        var stream = Self.begun(Protection(rate: 0.3, pattern: .twofold))
        var whole = 0
        for _ in 0..<100 {
            let (media, repair) = stream.frame(20)
            var lost: Set<UInt16> = []
            while lost.count < 3 { lost.insert(media.randomElement(using: &stream.random)?.sequenceNumber ?? 0) }
            var repair2 = repair
            repair2.shuffle(using: &stream.random)
            let arrived = media.filter { !lost.contains($0.sequenceNumber) }.shuffled(using: &stream.random)
            let recovered = stream.receive(media: arrived, repair: repair2)
            for packet in recovered {
                #expect(media.contains { $0.withoutSendTime == packet })
                #expect(lost.contains(packet.sequenceNumber))
            }
            if recovered.count == 3 { whole += 1 }
        }
        #expect(whole > 75, "\(whole) of 100 groups are whole")
    }

    @Test("of two elements with one identifier only the first is written on sending, and the other is recovered")
    func doubledExtension() {
        var stream = Self.begun(Protection(rate: 0.01, delay: .zero))
        var media = [stream.packet(), stream.packet(marker: true)]
        media[0].extensions = RTPHeaderExtensions(
            profile: 0xBEDE, bytes: ByteBuffer(bytes: [0x31, 1, 2, 0x31, 3, 4, 0, 0]))
        let repair = media.flatMap { stream.encoder.add($0, bytes: $0.encode(), now: stream.now) }
        let recovered = stream.receive(media: [media[1]], repair: repair)
        let expected = ByteBuffer(bytes: [0x31, 0, 0, 0x31, 3, 4, 0, 0])
        #expect(recovered.map(\.extensions) == [RTPHeaderExtensions(profile: 0xBEDE, bytes: expected)])
    }

    @Test("repair packets that come before the packets they protect are kept for them")
    func repairFirst() {
        var stream = Self.begun(Protection(rate: 0.01))
        let (media, repair) = stream.frame(20)
        var recovered: [RTPPacket] = []
        for packet in repair { recovered += stream.decoder.insert(repair: packet.payload) }
        #expect(recovered.isEmpty)
        recovered = stream.receive(media: Array(media.dropFirst(3).dropLast() + media.prefix(3)), repair: [])
        #expect(recovered == [media[19].withoutSendTime])
    }

    @Test("no packet is given twice")
    func once() {
        var stream = Self.begun(Protection(rate: 0.2))
        let (media, repair) = stream.frame(20)
        let first = stream.receive(media: Array(media.dropFirst()), repair: repair)
        #expect(first.count == 1)
        #expect(stream.receive(media: media, repair: repair).isEmpty)
    }

    @Test("a group ends with a frame, and when it grows too old")
    func groups() {
        var stream = ProtectedStream(Protection(rate: 0.1, delay: .milliseconds(60)))
        #expect(stream.frame(4).repair.isEmpty)
        #expect(stream.encoder.nextDeadline != nil)
        #expect(stream.frame(14).repair.count == 1, "18 packets are enough")
        #expect(stream.encoder.nextDeadline == nil)
        #expect(stream.frame(100).repair.count >= 9, "a group holds 46")
        _ = stream.encoder.finishDue(now: .distantFuture)
        #expect(stream.frame(2).repair.isEmpty)
        let deadline = stream.encoder.nextDeadline ?? .zero
        #expect(stream.encoder.finishDue(now: deadline - .milliseconds(1)).isEmpty)
        #expect(stream.encoder.finishDue(now: deadline).count == 1)
    }

    @Test("the overhead of repair is the requested rate")
    func overhead() {
        var stream = ProtectedStream(Protection(rate: 0.25))
        for _ in 0..<50 { _ = stream.frame(16) }
        #expect(stream.encoder.packetCount == 200)
        // A repair packet is as long as the longest that it protects.
        #expect((0.25...0.6).contains(stream.encoder.overhead), "\(stream.encoder.overhead)")
        stream.encoder.setProtection(.none)
        #expect(stream.frame(40).repair.isEmpty)
        #expect(stream.encoder.overhead == 0)
    }

    @Test("a jump within a group ends it, and padding is not protected")
    func jumps() {
        var stream = Self.begun(Protection(rate: 0.1))
        let first = stream.packet()
        #expect(stream.encoder.add(first, bytes: first.encode(), now: stream.now).isEmpty)
        stream.sequenceNumber &+= 500
        let (media, repair) = stream.frame(20)
        #expect(repair.count >= 2)
        #expect(stream.receive(media: [first] + media.dropFirst(), repair: repair) == [media[0].withoutSendTime])

        var padding = stream.packet()
        padding.paddingLength = 200
        #expect(stream.encoder.add(padding, bytes: padding.encode(), now: stream.now).isEmpty)
        #expect(stream.encoder.nextDeadline == nil)
    }

    @Test("another stream's packets and repair packets change nothing")
    func otherStream() {
        var stream = Self.begun(Protection(rate: 0.1))
        var other = FlexFECDecoder(ssrc: 8, mutableExtensions: ProtectedStream.extensions)
        let (media, repair) = stream.frame(20)
        for packet in media.dropFirst() { #expect(other.insert(packet, bytes: packet.encode()).isEmpty) }
        for packet in repair { #expect(other.insert(repair: packet.payload).isEmpty) }
        #expect(other.statistics.malformed == UInt64(repair.count))
        #expect(other.statistics.recovered == 0)
    }

    @Test("repair packets that were changed on purpose neither trap nor make packets of another stream")
    func mutations() {
        var stream = Self.begun(Protection(rate: 0.3, pattern: .twofold))
        for _ in 0..<300 {
            let (media, repair) = stream.frame(16)
            var arrived = media
            for _ in 0..<3 { arrived.remove(at: Int.random(in: 0..<arrived.count, using: &stream.random)) }
            for packet in arrived {
                let bytes =
                    Int.random(in: 0..<8, using: &stream.random) == 0
                    ? stream.random.mutate(packet.encode()) : packet.encode()
                for packet in stream.decoder.insert(packet, bytes: bytes) { #expect(packet.ssrc == 7) }
            }
            for packet in repair {
                for packet in stream.decoder.insert(repair: stream.random.mutate(packet.payload)) {
                    #expect(packet.ssrc == 7)
                }
            }
            for packet in stream.decoder.insert(repair: stream.random.bytes(40)) { #expect(packet.ssrc == 7) }
        }
        #expect(stream.decoder.statistics.malformed > 100)
    }

    @Test("a loss of a twentieth is all but repaired by a third of repair packets")
    func residualLoss() {
        var stream = Self.begun(Protection(rate: 0.34, pattern: .twofold))
        var lost = 0
        var recovered = 0
        for _ in 0..<250 {
            let (media, repair) = stream.frame(16)
            let arrived = media.filter { _ in Double.random(in: 0..<1, using: &stream.random) >= 0.05 }
            let repairArrived = repair.filter { _ in Double.random(in: 0..<1, using: &stream.random) >= 0.05 }
            lost += media.count - arrived.count
            recovered += stream.receive(media: arrived, repair: repairArrived).count
        }
        #expect(lost > 150)
        #expect(Double(recovered) > 0.9 * Double(lost), "\(recovered) of \(lost)")
    }
}

import MediaCore
import NIOCore
import Testing

@testable import H264

/// A payload with its RTP header's fields.
private struct Packet {
    var payload: ByteBuffer
    var timestamp: UInt32
    var marker: Bool
    var sequence: Int64
}

/// Packets of access units, 3000 ticks apart.
private func packets(of accessUnits: [[NALUnit]], _ packetizer: H264Packetizer) -> [Packet] {
    var packets: [Packet] = []
    for (index, units) in accessUnits.enumerated() {
        let payloads = packetizer.packetize(units)
        for (position, payload) in payloads.enumerated() {
            packets.append(
                Packet(
                    payload: payload, timestamp: UInt32(index) * 3000, marker: position == payloads.count - 1,
                    sequence: Int64(packets.count + 100)))
        }
    }
    return packets
}

extension H264Depacketizer {
    fileprivate mutating func append(_ packet: Packet) -> [AccessUnit] {
        append(
            payload: packet.payload, timestamp: packet.timestamp, marker: packet.marker, sequence: packet.sequence)
    }

    fileprivate mutating func append(_ packets: [Packet]) -> [AccessUnit] { packets.flatMap { append($0) } }

    /// Takes a payload in the next place of the sequence.
    fileprivate mutating func append(
        _ bytes: [UInt8], timestamp: UInt32 = 0, marker: Bool = false, sequence: Int64
    ) -> [AccessUnit] {
        append(payload: ByteBuffer(bytes: bytes), timestamp: timestamp, marker: marker, sequence: sequence)
    }
}

/// An access unit as an encoder makes it: an IDR picture with parameter sets at first and now and then, slices of any
/// size.
private func randomAccessUnits(
    _ count: Int, using generator: inout SeededGenerator, size: ClosedRange<Int> = 0...600
) -> [[NALUnit]] {
    (0..<count).map { index in
        let isIDR = index == 0 || Int.random(in: 0..<6, using: &generator) == 0
        var units: [NALUnit] = []
        if isIDR {
            units.append(generator.nalUnit(type: .sequenceParameterSet, size: 10...30))
            units.append(generator.nalUnit(type: .pictureParameterSet, size: 3...8))
        }
        if Bool.random(using: &generator) { units.append(generator.nalUnit(type: .sei, size: 1...30)) }
        for slice in 0..<Int.random(in: 1...4, using: &generator) {
            // first_mb_in_slice is zero in the first slice and not in the others.
            let first: UInt8 = slice == 0 ? 0x80 : 0x40
            let payload = [first] + generator.bytes(Int.random(in: size, using: &generator)) + [0x80]
            units.append(
                NALUnit(type: isIDR ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 2, rawPayload: payload))
        }
        return units
    }
}

@Suite struct H264DepacketizerTests {
    @Test(arguments: [PacketizationMode.singleNALUnit, .nonInterleaved])
    func `what was packetized comes out unchanged`(mode: PacketizationMode) {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<60 {
            let accessUnits = randomAccessUnits(5, using: &generator)
            let limit = Int.random(in: 16...1300, using: &generator)
            let sent = packets(of: accessUnits, H264Packetizer(mode: mode, maximumPayloadSize: limit))
            var depacketizer = H264Depacketizer()
            let received = depacketizer.append(sent)
            #expect(received.map(\.nalUnits) == accessUnits)
            #expect(received.map(\.rtpTimestamp) == accessUnits.indices.map { UInt32($0) * 3000 })
            #expect(received.allSatisfy { !$0.isDamaged })
            #expect(depacketizer.malformedPayloadCount == 0)
            #expect(depacketizer.flush() == nil)
        }
    }

    @Test func `without markers a unit ends where the timestamp changes`() {
        var generator = SeededGenerator(seed: 8)
        let accessUnits = randomAccessUnits(5, using: &generator)
        var depacketizer = H264Depacketizer()
        var received: [AccessUnit] = []
        for var packet in packets(of: accessUnits, H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 200)) {
            packet.marker = false
            received += depacketizer.append(packet)
        }
        #expect(received.map(\.nalUnits) == accessUnits.dropLast())
        let last = depacketizer.flush()
        #expect(last?.nalUnits == accessUnits.last)
        #expect(last?.isDamaged == true)
        #expect(received.allSatisfy { !$0.isDamaged })
    }

    @Test(arguments: [PacketizationMode.singleNALUnit, .nonInterleaved])
    func `a lost packet leaves no wrong unit that passes for whole`(mode: PacketizationMode) {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<12 {
            let accessUnits = randomAccessUnits(6, using: &generator)
            let sent = packets(of: accessUnits, H264Packetizer(mode: mode, maximumPayloadSize: 150))
            // A loss of the very first packet cannot be detected.
            for lost in sent.indices.dropFirst() {
                var received = sent
                received.remove(at: lost)
                var depacketizer = H264Depacketizer()
                var units = depacketizer.append(received)
                if let last = depacketizer.flush() { units.append(last) }
                let wrong = units.filter { unit in
                    let original = accessUnits[Int(unit.rtpTimestamp / 3000)]
                    return unit.isDamaged
                        ? !unit.nalUnits.allSatisfy(original.contains) : unit.nalUnits != original
                }
                #expect(wrong.isEmpty)
                // The loss shows in its own unit or in the next, unless that needs nothing before it.
                let index = Int(sent[lost].timestamp / 3000)
                let affected = units.filter { [index, index + 1].contains(Int($0.rtpTimestamp / 3000)) }
                let isRecovered = affected.contains { $0.rtpTimestamp / 3000 == index + 1 && $0.isIDR }
                #expect(affected.contains { $0.isDamaged } || isRecovered || index == accessUnits.count - 1)
            }
        }
    }

    @Test func `whole units of a damaged picture are kept`() {
        let slices = (0..<3).map { NALUnit(header: 0x41, payload: [0x80, UInt8($0)]) }
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append(slices[0].array, sequence: 1)
        let units = depacketizer.append(slices[2].array, marker: true, sequence: 3)
        #expect(units.map(\.nalUnits) == [[slices[0], slices[2]]])
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `loss between two pictures shows in the second`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        let units = depacketizer.append([0x41, 0x80, 3], timestamp: 6000, marker: true, sequence: 3)
        #expect(units.map(\.isDamaged) == [true])
        let next = depacketizer.append([0x41, 0x80, 4], timestamp: 9000, marker: true, sequence: 4)
        #expect(next.map(\.isDamaged) == [false])
    }

    @Test(arguments: [[0x67, 1], [0x09, 0x10]] as [[UInt8]])
    func `an IDR picture with its head is whole after any loss before it`(head: [UInt8]) {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        _ = depacketizer.append(head, timestamp: 6000, sequence: 3)
        let units = depacketizer.append([0x65, 0x80, 3], timestamp: 6000, marker: true, sequence: 4)
        #expect(units.map(\.isDamaged) == [false])
    }

    @Test func `an IDR picture that may have lost its parameter sets is damaged`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        let units = depacketizer.append([0x65, 0x80, 3], timestamp: 6000, marker: true, sequence: 3)
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `a picture of which nothing is left damages the next`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        #expect(depacketizer.append([0x7C, 0x81, 1], timestamp: 3000, sequence: 2).isEmpty)
        #expect(depacketizer.append([0x7C, 0x41, 2], timestamp: 3000, marker: true, sequence: 4).isEmpty)
        let units = depacketizer.append([0x41, 0x80, 3], timestamp: 6000, marker: true, sequence: 5)
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `loss behind a picture without its marker damages both`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, sequence: 1)
        var units = depacketizer.append([0x41, 0x80, 2], timestamp: 3000, sequence: 3)
        if let last = depacketizer.flush() { units.append(last) }
        #expect(units.map(\.isDamaged) == [true, true])
    }

    @Test func `padding packets count for their numbers alone`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        #expect(depacketizer.append([], timestamp: 0, sequence: 2).isEmpty)
        let units = depacketizer.append([0x41, 0x80, 2], timestamp: 3000, marker: true, sequence: 3)
        #expect(units.map(\.isDamaged) == [false])
        #expect(depacketizer.malformedPayloadCount == 0)
    }

    @Test func `loss before a padding packet is not forgotten`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], timestamp: 0, marker: true, sequence: 1)
        #expect(depacketizer.append([], timestamp: 0, sequence: 3).isEmpty)
        let units = depacketizer.append([0x41, 0x80, 2], timestamp: 6000, marker: true, sequence: 4)
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `repeated and late packets are ignored`() {
        var generator = SeededGenerator(seed: 10)
        let accessUnits = randomAccessUnits(5, using: &generator)
        let sent = packets(of: accessUnits, H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 100))
        var depacketizer = H264Depacketizer()
        var received: [AccessUnit] = []
        for (index, packet) in sent.enumerated() {
            received += depacketizer.append(packet)
            received += depacketizer.append(sent[Int.random(in: 0...index, using: &generator)])
        }
        #expect(received.map(\.nalUnits) == accessUnits)
        #expect(received.allSatisfy { !$0.isDamaged })
    }

    @Test func `of a sender that sets the marker at each slice, units end at new timestamps`() {
        var depacketizer = H264Depacketizer()
        var units: [AccessUnit] = []
        for sequence in 0..<12 {
            let first: UInt8 = sequence.isMultiple(of: 3) ? 0x80 : 0x40
            units += depacketizer.append(
                [0x41, first, UInt8(sequence)], timestamp: UInt32(sequence / 3) * 3000, marker: true,
                sequence: Int64(sequence))
        }
        #expect(units.map(\.nalUnits.count) == [1, 2, 3, 3])
        #expect(units.map(\.isDamaged) == [false, true, false, false])
        #expect(units.map(\.rtpTimestamp) == [0, 0, 3000, 6000])
    }

    @Test func `the last picture of a sender that sets the marker at each slice can be taken before the next`() {
        var depacketizer = H264Depacketizer()
        func append(_ first: UInt8, picture: Int, marker: Bool = true, sequence: Int64) -> [AccessUnit] {
            depacketizer.append(
                [0x41, first, UInt8(sequence)], timestamp: UInt32(picture) * 3000, marker: marker, sequence: sequence)
        }
        _ = append(0x80, picture: 0, sequence: 0)
        _ = append(0x40, picture: 0, sequence: 1)
        _ = append(0x80, picture: 1, marker: false, sequence: 2)
        #expect(!depacketizer.mayBeWhole)
        _ = append(0x40, picture: 1, sequence: 3)
        #expect(depacketizer.mayBeWhole)
        let taken = depacketizer.takeUnit()
        #expect(taken?.nalUnits.count == 2 && taken?.isDamaged == false)
        #expect(!depacketizer.mayBeWhole)
        _ = append(0x40, picture: 1, sequence: 4)
        let late = append(0x80, picture: 2, sequence: 5)
        #expect(late.map(\.isDamaged) == [true], "a slice that comes all the same")
        #expect(depacketizer.takeUnit()?.isDamaged == false)
    }

    @Test func `a picture with the timestamp of the one before is by itself, and so is one after a loss`() {
        var depacketizer = H264Depacketizer()
        var units = depacketizer.append([0x41, 0x80, 1], marker: true, sequence: 1)
        units += depacketizer.append([0x41, 0x80, 2], marker: true, sequence: 2)
        units += depacketizer.append([0x41, 0x40, 3], marker: true, sequence: 4)
        units += depacketizer.append([0x41, 0x80, 4], marker: true, sequence: 5)
        #expect(units.map(\.nalUnits.count) == [1, 1, 1, 1])
        #expect(units.map(\.isDamaged) == [false, false, true, false])
    }

    @Test func `a stream joined within a picture begins damaged`() {
        var depacketizer = H264Depacketizer()
        let units = depacketizer.append([0x41, 0x40, 1], timestamp: 0, marker: true, sequence: 1)
        #expect(units.map(\.isDamaged) == [true])
        let next = depacketizer.append([0x41, 0x80, 1], timestamp: 3000, marker: true, sequence: 2)
        #expect(next.map(\.isDamaged) == [false])
    }

    @Test func `a stream joined within a fragmented unit drops the fragments`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x7C, 0x01, 1], timestamp: 0, sequence: 1)
        _ = depacketizer.append([0x7C, 0x41, 1], timestamp: 0, sequence: 2)
        let units = depacketizer.append([0x41, 0x40, 1], timestamp: 0, marker: true, sequence: 3)
        #expect(units.map(\.nalUnits.count) == [1])
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test(
        arguments: [
            [0x79, 0, 1, 0, 1, 0x41],  // STAP-B
            [0x7A, 0, 1, 0, 1, 0x41],  // MTAP16
            [0x7B, 0, 1, 0, 1, 0x41],  // MTAP24
            [0x7D, 0x81, 0, 1, 0x41],  // FU-B
            [0x60, 1, 2], [0x7E, 1, 2], [0x7F, 1, 2],  // undefined types
            [0xE1, 0x80, 1],  // forbidden bit
            [0x78], [0x78, 0], [0x78, 0, 5, 0x41, 1], [0x78, 0, 0],  // STAP-A of nothing, or beyond its end
            [0x78, 0, 1, 0x78],  // STAP-A in a STAP-A
            [0x7C], [0x7C, 0x81], [0x7C, 0x98, 1],  // FU-A without header, without payload, of a STAP-A
        ] as [[UInt8]])
    func `a payload against the rules is counted and damages its unit`(payload: [UInt8]) {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80, 1], sequence: 1)
        let units =
            depacketizer.append(payload, sequence: 2) + depacketizer.append([0x41, 0x40], marker: true, sequence: 3)
        #expect(depacketizer.malformedPayloadCount == 1)
        #expect(units.map(\.nalUnits.count) == [2])
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `whole units of a malformed STAP-A are kept`() {
        var depacketizer = H264Depacketizer()
        let units = depacketizer.append([0x78, 0, 2, 0x41, 0x80, 0, 9, 0x41], marker: true, sequence: 1)
        #expect(units.map { $0.nalUnits.map(\.array) } == [[[0x41, 0x80]]])
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `a rejected fragment takes its unit along`() {
        for middle in [[0xFC, 0x01, 2], [0x5C, 0x01, 2], [0x7C, 0x05, 2]] as [[UInt8]] {
            var depacketizer = H264Depacketizer()
            _ = depacketizer.append([0x41, 0x80], sequence: 1)
            _ = depacketizer.append([0x7C, 0x81, 1], sequence: 2)
            _ = depacketizer.append(middle, sequence: 3)
            let units = depacketizer.append([0x7C, 0x41, 3], marker: true, sequence: 4)
            #expect(units.map { $0.nalUnits.map(\.array) } == [[[0x41, 0x80]]])
            #expect(units.map(\.isDamaged) == [true])
            #expect(depacketizer.malformedPayloadCount == 1)
        }
    }

    @Test(arguments: [[0x41, 0x40], [0x7C, 0x81, 7], [0x78, 0, 2, 0x41, 0x40]] as [[UInt8]])
    func `a unit whose last fragment never comes is dropped`(next: [UInt8]) {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80], sequence: 1)
        _ = depacketizer.append([0x7C, 0x81, 1], sequence: 2)
        _ = depacketizer.append(next, sequence: 3)
        let units = depacketizer.append([0x41, 0x60], marker: true, sequence: 4)
        #expect(units.count == 1)
        #expect(units.allSatisfy { $0.isDamaged && $0.nalUnits.allSatisfy { $0.count == 2 } })
        #expect(depacketizer.malformedPayloadCount >= 1)
    }

    @Test func `the marker ends a unit in the middle of a fragment`() {
        var depacketizer = H264Depacketizer()
        _ = depacketizer.append([0x41, 0x80], sequence: 1)
        let units = depacketizer.append([0x7C, 0x81, 1], marker: true, sequence: 2)
        #expect(units.map(\.nalUnits.count) == [1])
        #expect(units.map(\.isDamaged) == [true])
    }

    @Test func `a single fragment with start and end is a unit`() {
        var depacketizer = H264Depacketizer()
        let units = depacketizer.append([0x7C, 0xC1, 0x80, 2], marker: true, sequence: 1)
        #expect(units.map { $0.nalUnits.map(\.array) } == [[[0x61, 0x80, 2]]])
        #expect(units.map(\.isDamaged) == [false])
    }

    @Test func `an access unit grows no larger than its limit`() {
        var limits = H264Depacketizer.Limits()
        limits.maximumAccessUnitSize = DataSize(bytes: 1000)
        let big = NALUnit(header: 0x41, payload: [UInt8](repeating: 0x80, count: 600))
        for unit in [[big, big, NALUnit(header: 0x41, payload: [0x80])]] {
            for limit in [100, 2000] {
                var depacketizer = H264Depacketizer(limits: limits)
                let sent = packets(
                    of: [unit, unit], H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: limit))
                let received = depacketizer.append(sent)
                #expect(received.map(\.nalUnits) == [[unit[0], unit[2]], [unit[0], unit[2]]])
                #expect(received.allSatisfy { $0.isDamaged })
                #expect(depacketizer.oversizePayloadCount > 0)
            }
        }
    }

    @Test func `an access unit has no more units than its limit`() {
        var limits = H264Depacketizer.Limits()
        limits.maximumNALUnitCount = 10
        var depacketizer = H264Depacketizer(limits: limits)
        for sequence in 0..<50 { _ = depacketizer.append([0x41, 0x80], sequence: Int64(sequence)) }
        let unit = depacketizer.flush()
        #expect(unit?.nalUnits.count == 10)
        #expect(unit?.isDamaged == true)
    }

    @Test func `an access unit tells IDR pictures and parameter sets`() {
        let sets = [NALUnit(header: 0x67, payload: [1]), NALUnit(header: 0x68, payload: [2])]
        let slice = NALUnit(header: 0x65, payload: [0x80])
        let unit = AccessUnit(nalUnits: sets + [slice], rtpTimestamp: 0)
        #expect(unit.isIDR)
        #expect(unit.hasPicture)
        #expect(unit.parameterSets == sets)
        #expect(!AccessUnit(nalUnits: sets, rtpTimestamp: 0).hasPicture)
    }
}

import MediaCore
import NIOCore
import Testing

@testable import H264

@Suite struct H264PacketizerTests {
    private func unit(_ header: UInt8, size: Int) -> NALUnit {
        NALUnit(header: header, payload: [UInt8](repeating: 0x55, count: size - 1))
    }

    @Test func `a unit that fits goes as it is`() {
        let unit = unit(0x41, size: 100)
        let payloads = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 100).packetize([unit])
        #expect(payloads == [unit.bytes])
    }

    @Test func `small units that follow each other share a STAP-A`() {
        let units = [NALUnit(header: 0x67, payload: [1, 2]), NALUnit(header: 0x28, payload: [3])]
        let payloads = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 100).packetize(units)
        // The highest importance of the two, and type 24.
        #expect(payloads.map(\.array) == [[0x78, 0, 3, 0x67, 1, 2, 0, 2, 0x28, 3]])
    }

    @Test func `a STAP-A takes what fits and no more`() {
        let units = (0..<3).map { _ in unit(0x41, size: 20) }
        let packetizer = { H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: $0) }
        #expect(packetizer(67).packetize(units).map(\.readableBytes) == [67])
        #expect(packetizer(66).packetize(units).map(\.readableBytes) == [45, 20])
        #expect(packetizer(44).packetize(units).map(\.readableBytes) == [20, 20, 20])
    }

    @Test func `a large unit is cut into FU-As of one size, but for the last`() {
        let unit = unit(0x65, size: 1 + 250)
        let payloads = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 102).packetize([unit])
        #expect(payloads.map(\.readableBytes) == [86, 86, 84])
        #expect(payloads.map { $0.array[0] } == [0x7C, 0x7C, 0x7C])
        #expect(payloads.map { $0.array[1] } == [0x85, 0x05, 0x45])
        #expect(payloads.flatMap { $0.array.dropFirst(2) } == Array(unit.array.dropFirst()))
    }

    @Test(arguments: [17, 200, 381, 3000, 20_000])
    func `fragments as small as can be are of one size, but for the last, which alone ends the unit`(size: Int) {
        let unit = unit(0x41, size: size)
        let payloads = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 16).packetize([unit])
        #expect(Set(payloads.dropLast().map(\.readableBytes)).count == 1)
        #expect(payloads.allSatisfy { (3...16).contains($0.readableBytes) })
        #expect(payloads.map { $0.array[1] & 0xC0 } == [0x80] + payloads.dropFirst(2).map { _ in 0 } + [0x40])
        #expect(payloads.flatMap { $0.array.dropFirst(2) } == Array(unit.array.dropFirst()))
    }

    @Test func `a unit one byte too large becomes two fragments`() {
        let payloads = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 100).packetize([
            unit(0x41, size: 101)
        ])
        #expect(payloads.map { $0.array[1] } == [0x81, 0x41])
    }

    @Test func `mode 0 sends each unit by itself, however large`() {
        let units = [unit(0x67, size: 10), unit(0x68, size: 4), unit(0x65, size: 5000)]
        let payloads = H264Packetizer(mode: .singleNALUnit, maximumPayloadSize: 1000).packetize(units)
        #expect(payloads == units.map(\.bytes))
    }

    @Test func `units of types that RTP uses itself are left out`() {
        let units = ([0, 24, 25, 28, 31] as [UInt8]).map { unit(0x60 | $0, size: 30) } + [unit(0x41, size: 30)]
        for mode in [PacketizationMode.singleNALUnit, .nonInterleaved] {
            let payloads = H264Packetizer(mode: mode, maximumPayloadSize: 20).packetize(units)
            #expect(payloads.allSatisfy { [1, 28].contains($0.array[0] & 0x1F) })
            #expect(!payloads.isEmpty)
        }
    }

    @Test func `no payload is larger than the limit`() {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<100 {
            let limit = Int.random(in: 16...1500, using: &generator)
            let units = (0..<6).map { _ in generator.nalUnit(size: 0...3000) }
            let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: limit)
            #expect(packetizer.packetize(units).allSatisfy { $0.readableBytes <= limit })
        }
    }

    @Test func `an absurd limit is raised`() {
        #expect(H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: -5).maximumPayloadSize == 16)
    }

    @Test func `no units make no payloads`() {
        #expect(H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 1200).packetize([]).isEmpty)
    }
}

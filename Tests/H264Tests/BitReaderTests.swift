import MediaCore
import Testing

@testable import H264

@Suite struct BitReaderTests {
    @Test(
        arguments: [
            ([0b1000_0000], 0), ([0b0100_0000], 1), ([0b0110_0000], 2), ([0b0010_0000], 3), ([0b0011_1000], 6),
            ([0b0001_0000], 7), ([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF], 4_294_967_294),
        ] as [([UInt8], Int)])
    func `unsigned Exp-Golomb numbers are read as in table 9-2`(bytes: [UInt8], value: Int) throws {
        var reader = BitReader(bytes)
        #expect(try reader.unsigned("x") == value)
    }

    @Test(arguments: [(0, 0), (1, 1), (2, -1), (3, 2), (4, -2), (5, 3)])
    func `signed numbers alternate as in table 9-3`(code: Int, value: Int) throws {
        var writer = BitWriter()
        writer.unsigned(code)
        var reader = BitReader(writer.bytes)
        #expect(try reader.signed("x") == value)
    }

    @Test func `what was written is read back`() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var writer = BitWriter()
            let values = (0..<20).map { _ in
                (
                    kind: Int.random(in: 0..<3, using: &generator),
                    value: Int.random(in: 0..<(1 << Int.random(in: 1...31, using: &generator)), using: &generator)
                )
            }
            for (kind, value) in values {
                switch kind {
                case 0: writer.bits(value, 32)
                case 1: writer.unsigned(value)
                default: writer.signed(value % 2 == 0 ? -value : value)
                }
            }
            writer.stop()
            var reader = BitReader(writer.bytes)
            for (kind, value) in values {
                switch kind {
                case 0: #expect(try reader.bits(32, "x") == UInt32(value))
                case 1: #expect(try reader.unsigned("x") == value)
                default: #expect(try reader.signed("x") == (value % 2 == 0 ? -value : value))
                }
            }
            #expect(!reader.hasMoreData)
        }
    }

    @Test func `reading beyond the end is an error that names the field`() throws {
        var reader = BitReader([0xFF])
        #expect(try reader.bits(7, "a") == 127)
        #expect(throws: H264ParseError.truncated(field: "b")) { try reader.bits(2, "b") }
        #expect(try reader.flag("c"))
        #expect(throws: H264ParseError.truncated(field: "d")) { try reader.flag("d") }
        #expect(throws: H264ParseError.truncated(field: "e")) { try reader.unsigned("e") }
    }

    @Test func `a number with a prefix of 32 zeros is out of range`() {
        var reader = BitReader([0, 0, 0, 0, 0x80, 0, 0, 0, 0])
        #expect(throws: H264ParseError.valueOutOfRange(field: "x", value: 4_294_967_295)) { try reader.unsigned("x") }
    }

    @Test func `a number outside the range asked for is an error`() {
        var reader = BitReader([0b0010_1000])
        #expect(throws: H264ParseError.valueOutOfRange(field: "x", value: 4)) { try reader.unsigned("x", in: 0...3) }
    }

    @Test(
        arguments: [([0x80], 0, false), ([0x80], 1, false), ([0xC0], 0, true), ([0xC0], 1, false), ([0, 0], 0, false)]
            as [([UInt8], Int, Bool)])
    func `there is more data until the stop bit`(bytes: [UInt8], position: Int, more: Bool) throws {
        var reader = BitReader(bytes)
        _ = try reader.bits(position, "x")
        #expect(reader.hasMoreData == more)
    }
}

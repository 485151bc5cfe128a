import MediaCore
import NIOCore
import Testing

@testable import RoomMedia

/// The values of RTMP's commands.
@Suite struct AMFValueTests {
    @Test("values are read as they were written")
    func roundTrip() throws {
        let values: [AMFValue] = [
            .number(-1.5), .boolean(true), .string("Grüße"), .null, .array([.number(1), .string("")]),
            .object(["app": .string("demo"), "inner": .object(["x": .boolean(false)])]),
        ]
        var bytes = ByteBuffer()
        for value in values { value.write(to: &bytes) }
        #expect(try AMFValue.values(in: bytes) == values)
        for length in 1..<bytes.readableBytes {
            // Cut anywhere, it is an error, or fewer values.
            let cut = bytes.getSlice(at: bytes.readerIndex, length: length) ?? ByteBuffer()
            let read = try? AMFValue.values(in: cut)
            #expect(read.map { $0.count < values.count } ?? true)
        }
    }

    @Test("objects in objects have an end, and so has the number of values")
    func bounds() {
        var deep = AMFValue.null
        for _ in 0..<50 { deep = .object(["x": deep]) }
        for value in [deep, .array(Array(repeating: .array(Array(repeating: .null, count: 100)), count: 100))] {
            var bytes = ByteBuffer()
            value.write(to: &bytes)
            #expect(throws: AMFValue.ParseError.self) { try AMFValue.values(in: bytes) }
        }
    }
}

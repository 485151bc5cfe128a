import MediaCore
import NIOCore
import RTP
import Testing

@Suite struct FlexFECHeaderTests {
    /// The fields in front of the mask: P, X, CC, M and PT, length, timestamp, one source, SSRC, base.
    static let front = "007b abcd 01234567 01000000 11223344 aabb"

    static func header(_ offsets: [Int]) -> FlexFECHeader {
        var mask = FlexFECMask()
        for offset in offsets { mask.insert(offset) }
        return FlexFECHeader(
            flags: 0x007B, length: 0xABCD, timestamp: 0x0123_4567, ssrc: 0x1122_3344, base: 0xAABB, mask: mask)
    }

    @Test(
        "the bit in front of a part of the mask says that it is the last",
        arguments: [
            ([3, 7, 14], "8881"),
            ([0], "c000"),
            ([3, 7, 14, 15, 45], "0881 c0000001"),
            ([0, 46], "4000 00000000 c000000000000000"),
            ([1, 15, 108], "2000 40000000 8000000000000001"),
        ])
    func maskParts(offsets: [Int], bytes: String) throws {
        let header = Self.header(offsets)
        var written = ByteBuffer()
        header.encode(into: &written)
        #expect(written == ByteBuffer(hex: Self.front + bytes))
        #expect(header.encodedSize == written.readableBytes)
        written.writeString("parity")
        #expect(try FlexFECHeader(reading: &written) == header)
        #expect(written == ByteBuffer(string: "parity"))
    }

    @Test(
        "headers that browsers do not send are refused",
        arguments: [
            "807b abcd 01234567 01000000 11223344 aabb 8881",
            "407b abcd 01234567 01000000 11223344 aabb 8881",
            "007b abcd 01234567 02000000 11223344 aabb 8881",
            "007b abcd 01234567 00000000 11223344 aabb 8881",
            "007b abcd 01234567 01000000 11223344 aabb 8000",
            "007b abcd 01234567 01000000 11223344 aabb 0881 40000001 4000000000000000",
            "007b abcd 01234567 01000000 11223344 aabb 0881 4000",
            "007b abcd 01234567 01000000 11223344 aabb 0881 40000001 c00000",
            "007b abcd 01234567 01000000 11223344 aa",
            "",
        ])
    func refused(bytes: String) {
        var buffer = ByteBuffer(hex: bytes)
        #expect(throws: RTPError.self) { try FlexFECHeader(reading: &buffer) }
    }
}

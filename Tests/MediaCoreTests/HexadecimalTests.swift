import MediaCore
import Testing

@Suite struct HexadecimalTests {
    @Test("each byte has two digits, in lower case")
    func digits() {
        #expect([0x00, 0x0A, 0x10, 0xFF].hexadecimal == "000a10ff")
        #expect([UInt8]().hexadecimal.isEmpty)
    }
}

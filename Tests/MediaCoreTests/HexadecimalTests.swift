import MediaCore
import Testing

@Suite struct HexadecimalTests {
    @Test("each byte has two digits, in lower case")
    func digits() {
        #expect([0x00, 0x0A, 0x10, 0xFF].hexadecimal == "000a10ff")
        #expect([UInt8]().hexadecimal.isEmpty)
    }

    @Test("pairs of digits of either case are read, and nothing else is")
    func reading() {
        #expect([UInt8](hexadecimal: "000a10fF".utf8) == [0x00, 0x0A, 0x10, 0xFF])
        #expect([UInt8](hexadecimal: "".utf8) == [])
        for text in ["0", "0g", "+1", "0 ", "é"] { #expect([UInt8](hexadecimal: text.utf8) == nil, "\(text)") }
    }
}

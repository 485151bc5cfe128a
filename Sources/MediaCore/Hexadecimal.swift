extension Sequence<UInt8> {
    /// Two hexadecimal digits for each byte, in lower case.
    package var hexadecimal: String {
        reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}

extension [UInt8] {
    /// Reads two hexadecimal digits of either case for each byte; nil for any other text.
    package init?(hexadecimal text: some Collection<UInt8>) {
        let digits = text.compactMap(\.hexadecimalDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit of either case; nil for any other character.
    package var hexadecimalDigitValue: UInt8? {
        Character(Unicode.Scalar(self)).hexDigitValue.map { UInt8(truncatingIfNeeded: $0) }
    }
}

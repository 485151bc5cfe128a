extension Sequence<UInt8> {
    /// Two hexadecimal digits for each byte, in lower case.
    package var hexadecimal: String {
        reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}

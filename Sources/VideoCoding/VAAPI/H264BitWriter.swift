/// Writes the syntax elements of headers (H.264 7.2, 9.1).
struct H264BitWriter {
    private(set) var bytes: [UInt8] = []
    private(set) var bitCount = 0

    mutating func bit(_ value: Bool) {
        if bitCount.isMultiple(of: 8) { bytes.append(0) }
        if value { bytes[bytes.count - 1] |= 0x80 >> UInt8(bitCount & 7) }
        bitCount += 1
    }

    /// `u(n)`.
    mutating func bits(_ value: Int, _ count: Int) {
        for shift in (0..<count).reversed() { bit(value >> shift & 1 == 1) }
    }

    /// `ue(v)`, of a value that is not negative.
    mutating func unsigned(_ value: Int) {
        let code = value + 1
        let length = Int.bitWidth - code.leadingZeroBitCount
        bits(0, length - 1)
        bits(code, length)
    }

    /// `se(v)`.
    mutating func signed(_ value: Int) {
        unsigned(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// `rbsp_trailing_bits`.
    mutating func trailingBits() {
        bit(true)
        while !bitCount.isMultiple(of: 8) { bit(false) }
    }
}

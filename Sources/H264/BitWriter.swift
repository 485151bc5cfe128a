/// Writes the syntax elements of a raw payload (RBSP) bit by bit (H.264 7.2, 9.1).
package struct BitWriter {
    package private(set) var bytes: [UInt8]
    package private(set) var bitCount: Int

    /// Goes on behind `bytes`.
    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
        bitCount = bytes.count * 8
    }

    /// `u(1)`.
    package mutating func flag(_ value: Bool) {
        if bitCount.isMultiple(of: 8) { bytes.append(0) }
        if value { bytes[bytes.count - 1] |= 0x80 >> UInt8(bitCount & 7) }
        bitCount += 1
    }

    /// `u(n)`.
    package mutating func bits(_ value: Int, _ count: Int) {
        for shift in (0..<count).reversed() { flag(value >> shift & 1 == 1) }
    }

    /// `ue(v)`, of a value that is not negative.
    package mutating func unsigned(_ value: Int) {
        let code = value + 1
        let length = Int.bitWidth - code.leadingZeroBitCount
        bits(0, length - 1)
        bits(code, length)
    }

    /// `se(v)`.
    package mutating func signed(_ value: Int) {
        unsigned(value > 0 ? 2 * value - 1 : -2 * value)
    }

    /// Zeros up to the next whole byte.
    package mutating func align() {
        bitCount = bytes.count * 8
    }

    /// `rbsp_trailing_bits`.
    package mutating func stop() {
        flag(true)
        align()
    }

    /// Takes off the last bit; nil if there is none.
    package mutating func removeLast() -> Bool? {
        guard bitCount > 0 else { return nil }
        bitCount -= 1
        let mask = UInt8(0x80) >> (bitCount & 7)
        let bit = bytes[bitCount >> 3] & mask != 0
        bytes[bitCount >> 3] &= ~mask
        if bitCount & 7 == 0 { bytes.removeLast() }
        return bit
    }

    /// Takes off `rbsp_trailing_bits`; false when there is no stop bit.
    package mutating func removeStop() -> Bool {
        while let last = removeLast() {
            if last { return true }
        }
        return false
    }
}

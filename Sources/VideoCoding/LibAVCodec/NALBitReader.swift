/// Reads the first bits of a NAL unit in place, without the bytes that prevent start codes (H.264 7.3.1, 9.1).
///
/// It reads the properties that are needed of every frame; unlike H264's parser it needs no memory. Nil means that the
/// bits ran out.
struct NALBitReader {
    private let bytes: UnsafeRawBufferPointer
    private var next = 1
    private var zeros = 0
    private var current: UInt8 = 0
    private var bitsLeft = 0

    /// Starts behind the NAL unit's header byte.
    init(_ nalUnit: UnsafeRawBufferPointer) {
        bytes = nalUnit
    }

    mutating func bit() -> UInt32? {
        if bitsLeft == 0 {
            if next < bytes.count, zeros >= 2, bytes[next] == 3 {
                next += 1
                zeros = 0
            }
            guard next < bytes.count else { return nil }
            current = bytes[next]
            zeros = current == 0 ? zeros + 1 : 0
            next += 1
            bitsLeft = 8
        }
        bitsLeft -= 1
        return UInt32(current >> UInt8(bitsLeft) & 1)
    }

    /// `u(n)`, at most 32 bits.
    mutating func bits(_ count: Int) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let bit = bit() else { return nil }
            value = value << 1 | bit
        }
        return value
    }

    mutating func flag() -> Bool? { bit().map { $0 == 1 } }

    /// `ue(v)`.
    mutating func unsigned() -> UInt32? {
        var zeros = 0
        while true {
            guard let bit = bit() else { return nil }
            if bit == 1 { break }
            zeros += 1
            guard zeros < 32 else { return nil }
        }
        guard let rest = bits(zeros) else { return nil }
        return (UInt32(1) << UInt32(zeros)) - 1 + rest
    }

    /// `se(v)`.
    mutating func signed() -> Int? {
        guard let code = unsigned() else { return nil }
        let magnitude = Int(code / 2) + Int(code & 1)
        return code & 1 == 1 ? magnitude : -magnitude
    }
}

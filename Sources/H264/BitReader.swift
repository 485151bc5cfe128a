/// Reads the syntax elements of a raw payload (RBSP) bit by bit (H.264 7.2, 9.1). Never reads beyond the payload.
struct BitReader {
    private let bytes: [UInt8]
    /// The bit to read next, counted from the most significant of the first byte.
    private(set) var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var bitsLeft: Int { bytes.count * 8 - position }

    /// `u(n)`: an unsigned number of `count` bits, at most 32.
    mutating func bits(_ count: Int, _ field: String) throws(H264ParseError) -> UInt32 {
        guard count <= bitsLeft else { throw .truncated(field: field) }
        var value: UInt64 = 0
        var needed = count
        while needed > 0 {
            let offset = position & 7
            let taken = min(8 - offset, needed)
            let byte = (bytes[position >> 3] << offset) >> (8 - taken)
            value = value << taken | UInt64(byte)
            position += taken
            needed -= taken
        }
        return UInt32(truncatingIfNeeded: value)
    }

    /// `u(1)` as a truth value.
    mutating func flag(_ field: String) throws(H264ParseError) -> Bool {
        try bits(1, field) != 0
    }

    /// `u(8)`.
    mutating func byte(_ field: String) throws(H264ParseError) -> UInt8 {
        UInt8(truncatingIfNeeded: try bits(8, field))
    }

    /// `ue(v)`: an unsigned Exp-Golomb number, which must lie in `range`.
    mutating func unsigned(
        _ field: String, in range: ClosedRange<UInt32> = 0...UInt32.max - 1
    ) throws(H264ParseError) -> Int {
        var zeros = 0
        while try !flag(field) {
            zeros += 1
            guard zeros < 32 else { throw .valueOutOfRange(field: field, value: Int64(UInt32.max)) }
        }
        let value = (UInt64(1) << zeros) - 1 + UInt64(try bits(zeros, field))
        guard range.contains(UInt32(truncatingIfNeeded: value)) else {
            throw .valueOutOfRange(field: field, value: Int64(value))
        }
        return Int(value)
    }

    /// `se(v)`: a signed Exp-Golomb number, which must lie in `range`.
    mutating func signed(
        _ field: String, in range: ClosedRange<Int32> = -Int32.max...Int32.max
    ) throws(H264ParseError) -> Int {
        let code = try unsigned(field)
        let value = code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
        guard let narrow = Int32(exactly: value), range.contains(narrow) else {
            throw .valueOutOfRange(field: field, value: Int64(value))
        }
        return value
    }

    /// `more_rbsp_data()`: whether anything stands before the stop bit and the zeros behind it.
    var hasMoreData: Bool {
        guard let last = bytes.lastIndex(where: { $0 != 0 }) else { return false }
        return position < last * 8 + 7 - bytes[last].trailingZeroBitCount
    }
}

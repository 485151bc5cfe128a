/// Integers of variable length (LEB128): seven bits a byte, the low ones first, with the top bit set on all bytes but
/// the last. Signed integers are folded first (0, -1, 1, -2 become 0, 1, 2, 3). Shifts are masking shifts, because
/// these allocate nothing even without optimization.
extension [UInt8] {
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest &>>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func append(signed value: Int64) {
        append(varint: UInt64(bitPattern: (value &<< 1) ^ (value &>> 63)))
    }

    /// Appends the eight bytes of a floating-point number, the lowest first.
    mutating func append(double value: Double) {
        var bits = value.bitPattern
        for _ in 0..<8 {
            append(UInt8(truncatingIfNeeded: bits))
            bits &>>= 8
        }
    }

    /// Appends a duration exactly. A whole number of nanoseconds is a signed count, doubled; any other duration is 1,
    /// then seconds and attoseconds.
    mutating func append(duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let sum = whole.partialValue.addingReportingOverflow(attoseconds / 1_000_000_000)
        let isWhole = !whole.overflow && !sum.overflow && attoseconds % 1_000_000_000 == 0
        if isWhole, sum.partialValue.magnitude < 1 << 61 {
            let nanoseconds = sum.partialValue
            append(varint: UInt64(bitPattern: (nanoseconds &<< 1) ^ (nanoseconds &>> 63)) &<< 1)
        } else {
            append(varint: 1)
            append(signed: seconds)
            append(signed: attoseconds)
        }
    }

    /// Appends the number of bytes and then the text, which is cut if it is too long.
    mutating func append(text: String) {
        var clipped = String.UnicodeScalarView()
        clipped.append(contentsOf: text.unicodeScalars.prefix(FlightFormat.maximumTextLength))
        let bytes = String(clipped).utf8
        append(varint: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Reads values that the functions above wrote, and never reads beyond the end.
struct ByteReader {
    let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var remaining: Int { bytes.endIndex - position }

    mutating func byte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Returns nil at the end, or if the value takes more than 64 bits.
    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let next = byte() {
            let part = UInt64(next & 0x7F)
            guard shift < 63 || (shift == 63 && part <= 1) else { return nil }
            value |= part << shift
            if next & 0x80 == 0 { return value }
            shift += 7
        }
        return nil
    }

    mutating func signed() -> Int64? {
        guard let folded = varint() else { return nil }
        return Self.unfold(folded)
    }

    mutating func double() -> Double? {
        guard remaining >= 8 else { return nil }
        var bits: UInt64 = 0
        for index in 0..<8 { bits |= UInt64(bytes[position + index]) << (8 * UInt64(index)) }
        position += 8
        return Double(bitPattern: bits)
    }

    mutating func duration() -> Duration? {
        guard let first = varint() else { return nil }
        if first & 1 == 0 { return .nanoseconds(Self.unfold(first >> 1)) }
        guard first == 1, let seconds = signed(), let attoseconds = signed(),
            attoseconds.magnitude < 1_000_000_000_000_000_000
        else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    mutating func text() -> String? {
        guard let count = varint(), count <= UInt64(4 * FlightFormat.maximumTextLength), count <= UInt64(remaining)
        else { return nil }
        defer { position += Int(count) }
        return String(decoding: bytes[position..<position + Int(count)], as: UTF8.self)
    }

    private static func unfold(_ value: UInt64) -> Int64 {
        Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }
}

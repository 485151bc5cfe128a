/// The mark of a synthetic picture: its time and its maker.
///
/// It is a code word of 40 bits: 20 bits of time, 10 bits of tag, and a CRC-10 over both.
public struct FrameCounter: Hashable, Sendable {
    /// The number of bits in the code word.
    public static let bitCount = 40
    /// The time wraps after 2²⁰ ms, about 17 minutes.
    public static let timeModulus: Int64 = 1 << 20
    /// Tags are 10 bits wide.
    public static let tagModulus: UInt16 = 1 << 10

    /// The wall clock's milliseconds when the picture was made, modulo `timeModulus`.
    public var milliseconds: UInt32
    /// A number that identifies the maker of the picture.
    public var tag: UInt16

    /// Creates a counter from the wall clock's milliseconds; time and tag are reduced to the bits they have.
    public init(wallClockMilliseconds: Int64, tag: UInt16) {
        let modulus = Self.timeModulus
        milliseconds = UInt32(((wallClockMilliseconds % modulus) + modulus) % modulus)
        self.tag = tag % Self.tagModulus
    }

    /// The tag of a participant of this name: stable, but not always different from that of another name.
    public static func tag(for name: String) -> UInt16 {
        UInt16(truncatingIfNeeded: StableHash.hash(name) % UInt64(tagModulus))
    }

    /// Returns the age of the picture at `wallClockMilliseconds`, assuming less than half the modulus: up to 8.7
    /// minutes. It is negative if the maker's clock is ahead.
    public func age(atWallClockMilliseconds wallClockMilliseconds: Int64) -> Duration {
        let modulus = Self.timeModulus
        let now = Self(wallClockMilliseconds: wallClockMilliseconds, tag: 0).milliseconds
        var difference = (Int64(now) - Int64(milliseconds) + modulus) % modulus
        if difference >= modulus / 2 { difference -= modulus }
        return .milliseconds(difference)
    }

    /// The 40 bits, the highest first to be drawn.
    public var codeWord: UInt64 {
        let payload = UInt64(milliseconds) << 10 | UInt64(tag)
        return payload << 10 | UInt64(Self.checksum(payload))
    }

    /// Reads a code word; nil if its checksum is wrong.
    public init?(codeWord: UInt64) {
        let payload = codeWord >> 10
        guard codeWord >> Self.bitCount == 0, Self.checksum(payload) == UInt16(codeWord & 0x3FF) else { return nil }
        milliseconds = UInt32(payload >> 10)
        tag = UInt16(payload & 0x3FF)
    }

    /// CRC-10 with the polynomial of ITU-T I.610 (x¹⁰ + x⁹ + x⁵ + x⁴ + x + 1) over the 30 bits, started with ones so
    /// that neither all black nor all white is a code word.
    private static func checksum(_ payload: UInt64) -> UInt16 {
        var remainder: UInt16 = 0x3FF
        for bit in (0..<30).reversed() {
            let input = UInt16(payload >> UInt64(bit) & 1)
            let top = remainder >> 9 & 1
            remainder = (remainder << 1) & 0x3FF
            if top ^ input == 1 { remainder ^= 0x233 }
        }
        return remainder
    }
}

/// A hash that is the same in every run, unlike the standard library's.
enum StableHash {
    /// 64-bit FNV-1a over UTF-8. Its low bits are the better ones.
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// A hash of a text, mixed so that similar short texts differ in all bits.
    static func mixed(_ text: String) -> UInt64 {
        var value = hash(text)
        value ^= value >> 33
        value = value &* 0xFF51_AFD7_ED55_8CCD
        return value ^ value >> 29
    }
}

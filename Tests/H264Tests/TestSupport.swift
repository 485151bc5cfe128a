import H264
import MediaCore
import NIOCore

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &self) } }

    /// Bytes in which zeros and other small numbers are common, as start codes and their emulation need.
    mutating func smallBytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in Bool.random(using: &self) ? 0 : .random(in: 0...4, using: &self) }
    }

    /// A slice-like NAL unit with a payload of `size` random bytes.
    mutating func nalUnit(type: NALUnitType = .codedSliceNonIDR, size: ClosedRange<Int>) -> NALUnit {
        let payload = bytes(Int.random(in: size, using: &self))
        return NALUnit(type: type, referenceIDC: .random(in: 0...3, using: &self), rawPayload: payload + [0x80])
    }

    /// `bytes` with some bits flipped, bytes replaced, cut out, doubled, or the end cut off.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            guard let index = result.indices.randomElement(using: &self) else { break }
            switch Int.random(in: 0..<5, using: &self) {
            case 0: result[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: result[index] = .random(in: 0...255, using: &self)
            case 2: result.remove(at: index)
            case 3: result.insert(result[index], at: index)
            default: result.removeSubrange(index...)
            }
        }
        return result
    }
}

extension NALUnit {
    /// A NAL unit from hexadecimal digits.
    init(hex: String) {
        let digits = hex.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        self.init(header: bytes[0], payload: Array(bytes.dropFirst()))
    }

    /// A NAL unit of bytes as they are, without emulation prevention.
    init(header: UInt8, payload: [UInt8]) {
        self =
            NALUnit(ByteBuffer(bytes: [header] + payload))
            ?? NALUnit(type: .unspecified, referenceIDC: 0, rawPayload: [])
    }

    var array: [UInt8] { Array(bytes.readableBytesView) }
}

extension ByteBuffer {
    var array: [UInt8] { Array(readableBytesView) }
}

/// Parameter sets that x264 made; the tests compare them with the output of another parser (FFmpeg's trace_headers).
enum Sample {
    /// A slice that begins a picture, as far as its first byte shows.
    static let slice = NALUnit(hex: "419a0001ff80")
    static let baselineSPS = NALUnit(hex: "6742c01ed900a02ff970110000030001000003003c0f162e48")
    static let baselinePPS = NALUnit(hex: "68cb83cb20")
    static let highSPS = NALUnit(
        hex: "67640028acd940780227e5c05a808080a000000300200000078c8c001e848003d09c58600f183196")
    static let highPPS = NALUnit(hex: "68ebecb22c")
    static let interlacedSPS = NALUnit(hex: "674d401feca05a126c0440000003004000000f07c58b6580")
    static let interlacedPPS = NALUnit(hex: "68fba3cb20")
    static let high422SPS = NALUnit(hex: "677a000db6cd94141fb0110000030001000003003c0f142996")
    static let high444SPS = NALUnit(hex: "67f4000d919b282a10f1f1f80880000003008000001e078a14cb")
    static let monochromeSPS = NALUnit(hex: "6764000af3650836c05b20000003002000000781e244b2c0")
    static let scalingListPPS = NALUnit(hex: "68ebe3cb39464763b8ac444108021210043080212c")
    static let defaultListsPPS = NALUnit(hex: "68ebe3cb3002c0")
}

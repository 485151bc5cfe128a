public import MediaCore
import NIOCore

/// The rate that a receiver believes it can take over all of `ssrcs` together (draft-alvestrand-rmcat-remb-03 2.2).
public struct REMB: Hashable, Sendable {
    /// "Application layer feedback", which the identifier "REMB" makes this message.
    static let format: UInt8 = 15
    private static let identifier: UInt32 = 0x5245_4D42

    public var senderSSRC: UInt32
    /// The bitrate, written with 18 significant bits, rounded down.
    public var bitRate: BitRate
    /// The first 255 are written.
    public var ssrcs: [UInt32]

    public init(senderSSRC: UInt32, bitRate: BitRate, ssrcs: [UInt32]) {
        self.senderSSRC = senderSSRC
        self.bitRate = bitRate
        self.ssrcs = ssrcs
    }

    /// Returns true if an application layer feedback message is a REMB.
    static func isREMB(_ body: ByteBuffer) -> Bool {
        body.getInteger(at: body.readerIndex + 8, as: UInt32.self) == identifier
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "REMB")
        _ = try body.read(UInt32.self, of: "REMB")
        guard try body.read(UInt32.self, of: "REMB") == Self.identifier else {
            throw .malformed(structure: "REMB", reason: "its identifier is not \"REMB\"")
        }
        let fields = try body.read(UInt32.self, of: "REMB")
        let exponent = fields >> 18 & 0x3F
        let mantissa = Int64(fields & 0x3_FFFF)
        let fits = exponent < mantissa.leadingZeroBitCount
        bitRate = BitRate(bitsPerSecond: fits ? mantissa << exponent : .max)
        ssrcs = []
        for _ in 0..<(fields >> 24) { ssrcs.append(try body.read(of: "REMB")) }
    }

    func encode(into buffer: inout ByteBuffer) {
        var mantissa = UInt64(bitRate.bitsPerSecond)
        var exponent: UInt32 = 0
        while mantissa > 0x3_FFFF {
            mantissa >>= 1
            exponent += 1
        }
        let listed = ssrcs.prefix(255)
        let fields = UInt32(truncatingIfNeeded: listed.count) << 24 | exponent << 18
        buffer.writeRTCP(type: RTCPType.payloadSpecificFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(
                senderSSRC, UInt32(0), Self.identifier, fields | UInt32(truncatingIfNeeded: mantissa))
            for ssrc in listed { $0.writeInteger(ssrc) }
        }
    }
}

/// The message "recovery point" (H.264 D.1.8, D.2.8): the time until pictures are right again if decoding starts here.
///
/// Encoders that renew the picture part by part send one at the beginning of each round. A sender that answers a loss
/// with a picture that refers only to acknowledged pictures sends one with it, too. Strictly the message is for a
/// decoder without any pictures, so it goes only to receivers that agreed to it.
public struct RecoveryPoint: Hashable, Sendable {
    /// `recovery_frame_cnt`: the pictures are right from the one on whose `frame_num` is larger by this than this
    /// picture's.
    public var frameCount: Int
    /// `exact_match_flag`: from there on pictures are bit-identical to those of a decoder without losses.
    public var isExact: Bool

    /// `payloadType` of the message.
    private static let payloadType = 6
    /// The longest part of a unit that is searched: other messages may come before this one.
    private static let maximumSize = 4096
    /// The widest `frame_num` has 16 bits.
    private static let frameCounts: ClosedRange<UInt32> = 0...65535

    public init(frameCount: Int, isExact: Bool) {
        self.frameCount = frameCount
        self.isExact = isExact
    }

    /// The one that an access unit has; nil if it has none.
    public init?(of nalUnits: [NALUnit]) {
        for unit in nalUnits {
            // Messages stand before the first slice.
            guard !unit.isVCL else { return nil }
            guard unit.type == .sei, let found = RecoveryPoint(parsing: unit) else { continue }
            self = found
            return
        }
        return nil
    }

    /// Parses the recovery point in a unit of messages; nil if it has none, or an invalid one.
    public init?(parsing nalUnit: NALUnit) {
        guard nalUnit.type == .sei else { return nil }
        let payload = nalUnit.rawPayload(sourceLimit: Self.maximumSize)
        var rest = payload[...]
        // The rest at the end is the trailing bits (H.264 7.3.2.3).
        while rest.count > 2 {
            guard let type = Self.number(&rest), let size = Self.number(&rest), size <= rest.count else { return nil }
            guard type == Self.payloadType else {
                rest = rest.dropFirst(size)
                continue
            }
            var reader = BitReader(Array(rest.prefix(size)))
            do throws(H264ParseError) {
                frameCount = try reader.unsigned("recovery_frame_cnt", in: Self.frameCounts)
                isExact = try reader.flag("exact_match_flag")
            } catch {
                return nil
            }
            return
        }
        return nil
    }

    /// A payload's type or size: bytes of 255, and one that is less (H.264 7.3.2.3.1).
    private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        var value = 0
        while let byte = bytes.popFirst() {
            value += Int(byte)
            if byte < 255 { return value }
        }
        return nil
    }

    /// A unit with this message alone; `broken_link_flag` and `changing_slice_group_idc` are zero.
    public var nalUnit: NALUnit {
        var payload = BitWriter()
        payload.unsigned(max(0, min(frameCount, Int(Self.frameCounts.upperBound))))
        payload.flag(isExact)
        payload.bits(0, 3)
        payload.stop()
        let head = [UInt8(Self.payloadType), UInt8(payload.bytes.count)]
        return NALUnit(type: .sei, referenceIDC: 0, rawPayload: head + payload.bytes + [0x80])
    }
}

public import NIOCore

/// One NAL unit in its stored and sent form: its header byte and its payload with emulation prevention, without start
/// code or length (H.264 7.3.1).
public struct NALUnit: Sendable, Hashable {
    /// The header byte and the payload; never empty.
    public let bytes: ByteBuffer

    /// Takes the readable bytes of `bytes` as a NAL unit, without a copy; nil when there are none.
    public init?(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return nil }
        self.bytes = bytes
    }

    /// Makes a NAL unit from a header and a raw payload (RBSP), in which emulation prevention bytes are put.
    public init(type: NALUnitType, referenceIDC: UInt8, rawPayload: [UInt8]) {
        var buffer = ByteBufferAllocator().buffer(capacity: 1 + rawPayload.count + rawPayload.count / 64)
        buffer.writeInteger((referenceIDC & 3) << 5 | type.rawValue)
        EmulationPrevention.write(rawPayload, into: &buffer)
        bytes = buffer
    }

    public var header: UInt8 { bytes.getInteger(at: bytes.readerIndex) ?? 0 }

    /// `nal_unit_type`.
    public var type: NALUnitType { NALUnitType(rawValue: header & 0x1F) ?? .unspecified }

    /// `nal_ref_idc`: 0 when no other picture refers to this one; larger is more important.
    public var referenceIDC: UInt8 { header >> 5 & 3 }

    /// `forbidden_zero_bit`: set when a network element knows of bit errors in the unit (RFC 6184 1.3).
    public var forbiddenZeroBit: Bool { header & 0x80 != 0 }

    /// True if the unit holds slice data.
    public var isVCL: Bool { type.isVCL }

    /// The number of bytes, header included.
    public var count: Int { bytes.readableBytes }

    /// The payload after the one-byte header, without emulation prevention (RBSP).
    ///
    /// - Parameter sourceLimit: The largest number of payload bytes to read, such as enough for a slice header.
    public func rawPayload(sourceLimit: Int = .max) -> [UInt8] {
        bytes.withUnsafeReadableBytes { raw in
            EmulationPrevention.removed(from: UnsafeRawBufferPointer(rebasing: raw.dropFirst().prefix(sourceLimit)))
        }
    }

    /// True for an SPS or a PPS.
    public var isParameterSet: Bool { type.isParameterSet }

    /// The most bytes of an SPS or PPS that is parsed. Encoders write fewer than 100; the longest that the syntax
    /// allows, with all scaling lists and buffer schedules, has about as many as this.
    public static let maximumParameterSetSize = 4096

    func checkParameterSetSize() throws(H264ParseError) {
        guard count <= Self.maximumParameterSetSize else {
            throw .parameterSetTooLong(count: count, maximum: Self.maximumParameterSetSize)
        }
    }

    /// True if a slice is the first of its picture in raster order: `first_mb_in_slice`, `ue(v)`, is zero.
    var beginsPicture: Bool {
        guard let byte: UInt8 = bytes.getInteger(at: bytes.readerIndex + 1) else { return false }
        return byte & 0x80 != 0
    }
}

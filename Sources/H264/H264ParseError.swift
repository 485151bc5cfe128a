/// The reason for which bytes violate H.264 (or a container of it).
public enum H264ParseError: Error, Hashable, Sendable {
    /// The data ends before or within this syntax element.
    case truncated(field: String)
    /// A syntax element has a value that the standard forbids, or that is not supported.
    case valueOutOfRange(field: String, value: Int64)
    /// A NAL unit is of another type than the one wanted.
    case unexpectedType(NALUnitType, expected: NALUnitType)
    /// No SPS, or no PPS that refers to an SPS at hand.
    case missingParameterSet(NALUnitType)
    /// The picture is larger than `VideoFormatDescription.maximumDimension` either way, or cropped to nothing.
    case unsupportedDimensions(width: Int64, height: Int64)
    /// The unit whose length stands at this offset reaches beyond the data.
    case truncatedUnit(offset: Int)
    /// A NAL unit has more bytes than its length field can say.
    case unitTooLong(count: Int, maximum: Int)
    /// An SPS or PPS has more bytes than `NALUnit.maximumParameterSetSize`.
    case parameterSetTooLong(count: Int, maximum: Int)
    /// The SPSs and PPSs of a stream have more bytes together than `ParameterSetStore.maximumSize`.
    case tooManyParameterSets(count: Int, maximum: Int)
    /// A length of this many bytes; only 1, 2 and 4 exist.
    case unsupportedLengthSize(Int)
}

extension H264ParseError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let field):
            "the data ends within \(field): pass the whole NAL unit or record"
        case .valueOutOfRange(let field, let value):
            "\(field) is \(value), which H.264 does not allow or we do not support: the stream is damaged or exotic"
        case .unexpectedType(let type, let expected):
            "a NAL unit of type \(type.rawValue) (\(type)) where \(expected) was expected"
        case .missingParameterSet(.sequenceParameterSet):
            "no sequence parameter set: send SPS and PPS with the first IDR picture"
        case .missingParameterSet(let type):
            "no \(type) that refers to a known sequence parameter set: send SPS and PPS with the first IDR picture"
        case .unsupportedDimensions(let width, let height):
            "a picture of \(width)x\(height) samples: both must be from 1 to 8192"
        case .truncatedUnit(let offset):
            "the NAL unit at byte \(offset) is longer than the data: pass whole samples and the right length size"
        case .unitTooLong(let count, let maximum):
            "a NAL unit of \(count) bytes does not fit a length field for at most \(maximum): use four bytes"
        case .parameterSetTooLong(let count, let maximum):
            "a parameter set of \(count) bytes: at most \(maximum) are taken, and encoders write fewer than 100"
        case .tooManyParameterSets(let count, let maximum):
            "the stream's parameter sets have \(count) bytes, of which \(maximum) are taken: send those that are in use"
        case .unsupportedLengthSize(let size):
            "a NAL unit length of \(size) bytes: use 1, 2 or 4"
        }
    }
}

/// The reason why bytes are not a recording, or not one that can be trusted.
public enum FlightDecodingError: Error, Hashable, Sendable {
    /// The file does not begin with the format's magic bytes.
    case notAFlight
    /// The file has another format version, from a newer program.
    case unknownVersion(UInt64)
    /// The header is not complete.
    case noHeader
    /// The record at this offset is invalid.
    case malformed(offset: Int, reason: String)
}

extension FlightDecodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAFlight: "this is no flight recording; confrelay and confclient make them with --flight-recorder"
        case .unknownVersion(let version):
            "this is a recording of version \(version), and this program reads version \(FlightFormat.version): "
                + "use the program of the release that made it"
        case .noHeader: "the recording ends before its header does: nothing was recorded"
        case .malformed(let offset, let reason): "the recording is damaged at byte \(offset): \(reason)"
        }
    }
}

/// One `m=` line with the lines that belong to it (RFC 8866, 5.14).
public struct MediaDescription: Hashable, Sendable {
    public enum Kind: Hashable, Sendable, CustomStringConvertible {
        case audio
        case video
        /// `text`, `application`, `message`, `image` or another.
        case other(String)

        public init(_ name: String) {
            switch name {
            case "audio": self = .audio
            case "video": self = .video
            default: self = .other(name)
            }
        }

        public var description: String {
            switch self {
            case .audio: "audio"
            case .video: "video"
            case .other(let name): name
            }
        }
    }

    public var kind: Kind
    /// The port; 0 means rejected, disabled or (with `a=bundle-only`) bundled.
    public var port: UInt16
    public var transport: MediaTransport
    /// The formats in order of preference: payload types, for RTP.
    public var formats: [String]
    /// The media's own `c=`.
    public var connection: ConnectionAddress?
    public var bandwidths: [BandwidthLimit]
    public var attributes: [SDPAttribute]
    /// The line of the `m=`, from 1; 0 if it was not parsed. Two descriptions that differ only here are equal.
    public var line: Int

    public init(
        kind: Kind, port: UInt16, transport: MediaTransport, formats: [String], connection: ConnectionAddress? = nil,
        bandwidths: [BandwidthLimit] = [], attributes: [SDPAttribute] = [], line: Int = 0
    ) {
        self.kind = kind
        self.port = port
        self.transport = transport
        self.formats = formats
        self.connection = connection
        self.bandwidths = bandwidths
        self.attributes = attributes
        self.line = line
    }

    public static func == (left: MediaDescription, right: MediaDescription) -> Bool {
        left.kind == right.kind && left.port == right.port && left.transport == right.transport
            && left.formats == right.formats && left.connection == right.connection
            && left.bandwidths == right.bandwidths && left.attributes == right.attributes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(port)
        hasher.combine(formats)
        hasher.combine(attributes)
    }

    func appendLines(to lines: inout [String]) {
        lines.append("m=\(kind) \(port) \(transport) \(formats.joined(separator: " "))")
        if let connection { lines.append("c=\(connection)") }
        lines += bandwidths.map { "b=\($0)" }
        lines += attributes.map(\.description)
    }
}

/// A session description (RFC 8866). Unknown attributes are kept as they are.
public struct SessionDescription: Hashable, Sendable {
    /// The largest text that is parsed, in bytes.
    public static let maximumSize = 65_536
    /// The longest line that is parsed, in bytes.
    public static let maximumLineLength = 8_192
    /// The most lines that are parsed.
    public static let maximumLineCount = 2_048
    /// The most media descriptions that are parsed.
    public static let maximumMediaCount = 32
    /// The most attributes of the session, and of each media description, that are parsed. Browsers write less than
    /// 300.
    public static let maximumAttributeCount = 512
    /// The most header extensions of the session, and of each media description, that are read.
    public static let maximumExtensionCount = 64
    /// The most keys (`a=crypto`) of a media description that are read.
    public static let maximumCryptoCount = 32

    /// `o=` (RFC 8866, 5.2).
    public struct Origin: Hashable, Sendable {
        public var username: String
        /// A number by the grammar; kept as text because its size has no limit.
        public var sessionID: String
        /// A number by the grammar; kept as text because its size has no limit.
        public var sessionVersion: String
        /// The address type, `IP4` or `IP6`.
        public var addressType: String
        public var address: String

        public init(
            username: String = "-", sessionID: String, sessionVersion: String = "1", addressType: String,
            address: String
        ) {
            self.username = username
            self.sessionID = sessionID
            self.sessionVersion = sessionVersion
            self.addressType = addressType
            self.address = address
        }
    }

    public var origin: Origin
    /// `s=`; `-` if the session has no name.
    public var name = "-"
    /// The session's `c=`, which applies to each media description that has none of its own.
    public var connection: ConnectionAddress?
    public var bandwidths: [BandwidthLimit] = []
    /// The first `t=`: start and stop in seconds since 1900, `0 0` for a session without bounds. An answer repeats the
    /// offer's value (RFC 3264, section 6).
    public var timing: String
    public var attributes: [SDPAttribute] = []
    public var media: [MediaDescription] = []

    /// Creates a session description without media.
    public init(origin: Origin, connection: ConnectionAddress? = nil, timing: String = "0 0") {
        self.origin = origin
        self.connection = connection
        self.timing = timing
    }

    /// Returns the text, with lines that end with CRLF (RFC 8866, section 5).
    public func encode() -> String {
        var lines = ["v=0"]
        lines.append(
            "o=\(origin.username) \(origin.sessionID) \(origin.sessionVersion) IN \(origin.addressType) "
                + origin.address)
        lines.append("s=\(name)")
        if let connection { lines.append("c=\(connection)") }
        lines += bandwidths.map { "b=\($0)" }
        lines.append("t=\(timing)")
        lines += attributes.map(\.description)
        for description in media { description.appendLines(to: &lines) }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}

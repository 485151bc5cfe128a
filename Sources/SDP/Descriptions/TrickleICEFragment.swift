public import SecureTransport

/// A piece of a session description by which one side tells candidates or new credentials after offer and answer
/// (`application/trickle-ice-sdpfrag`: RFC 8840, section 9; its use in WHIP: RFC 9725, section 4.3).
public struct TrickleICEFragment: Hashable, Sendable {
    /// The type of its text in HTTP.
    public static let mediaType = "application/trickle-ice-sdpfrag"
    /// The largest text that is parsed, in bytes.
    public static let maximumSize = 16_384
    /// The most candidates that are parsed; those of no use count too.
    public static let maximumCandidateCount = 128

    /// What is said of one media description.
    public struct Media: Hashable, Sendable {
        /// As in the media description's line.
        public var kind: MediaDescription.Kind
        /// `a=mid`, by which the media description is known.
        public var mid: String
        public var candidates: [ICECandidate]
        /// `a=end-of-candidates`: none will follow.
        public var isComplete: Bool

        public init(
            kind: MediaDescription.Kind, mid: String, candidates: [ICECandidate] = [], isComplete: Bool = false
        ) {
            self.kind = kind
            self.mid = mid
            self.candidates = candidates
            self.isComplete = isComplete
        }
    }

    /// `a=ice-ufrag` and `a=ice-pwd` of the side that sends it, of the whole or of its first media description. Other
    /// ones than before ask for a restart. Nil where none are told.
    public var credentials: ICECredentials?
    /// `a=ice-lite`.
    public var isLite: Bool
    /// `a=ice-options`.
    public var options: [String]
    /// The identification tags of `a=group:BUNDLE`; empty where there is none.
    public var bundle: [String]
    public var media: [Media]
    /// `a=end-of-candidates` of the whole.
    public var isComplete: Bool

    public init(
        credentials: ICECredentials? = nil, isLite: Bool = false, options: [String] = [], bundle: [String] = [],
        media: [Media] = [], isComplete: Bool = false
    ) {
        self.credentials = credentials
        self.isLite = isLite
        self.options = options
        self.bundle = bundle
        self.media = media
        self.isComplete = isComplete
    }

    /// The candidates of all media descriptions.
    public var candidates: [ICECandidate] { media.flatMap(\.candidates) }

    /// The text, lines ended by CRLF.
    public func encode() -> String {
        var lines: [String] = []
        if isLite { lines.append("a=ice-lite") }
        if !bundle.isEmpty { lines.append("a=group:BUNDLE \(bundle.joined(separator: " "))") }
        if !options.isEmpty { lines.append("a=ice-options:\(options.joined(separator: " "))") }
        if let credentials {
            lines.append("a=ice-ufrag:\(credentials.usernameFragment)")
            lines.append("a=ice-pwd:\(credentials.password)")
        }
        if isComplete { lines.append("a=end-of-candidates") }
        for description in media {
            // Port, transport and format say nothing here (RFC 8840, section 9).
            lines.append("m=\(description.kind) 9 RTP/AVP 0")
            lines.append("a=mid:\(description.mid)")
            lines += description.candidates.map { "a=candidate:\($0.sdpValue)" }
            if description.isComplete { lines.append("a=end-of-candidates") }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}

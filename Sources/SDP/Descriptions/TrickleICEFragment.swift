public import SecureTransport

/// A part of a session description with which one side sends candidates or new credentials after offer and answer
/// (`application/trickle-ice-sdpfrag`: RFC 8840, section 9; its use in WHIP: RFC 9725, section 4.3).
public struct TrickleICEFragment: Hashable, Sendable {
    /// The media type of the text in HTTP.
    public static let mediaType = "application/trickle-ice-sdpfrag"
    /// The largest text that is parsed, in bytes.
    public static let maximumSize = 16_384
    /// The most candidates that are parsed, including those that are unusable here.
    public static let maximumCandidateCount = 128

    /// The part of a fragment about one media description.
    public struct Media: Hashable, Sendable {
        /// The kind, as in the media description's `m=` line.
        public var kind: MediaDescription.Kind
        /// `a=mid`, which identifies the media description.
        public var mid: String
        public var candidates: [ICECandidate]
        /// True if no further candidate follows: `a=end-of-candidates`.
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

    /// `a=ice-ufrag` and `a=ice-pwd` of the sending side, from the session level or from the first media description.
    /// Credentials that differ from the earlier ones ask for an ICE restart. Nil if there are none.
    public var credentials: ICECredentials?
    /// `a=ice-lite`.
    public var isLite: Bool
    /// `a=ice-options`.
    public var options: [String]
    /// The identification tags of `a=group:BUNDLE`; empty if there is none.
    public var bundle: [String]
    public var media: [Media]
    /// `a=end-of-candidates` at the session level.
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

    /// Returns the text, with lines that end with CRLF.
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
            // Port, transport and format mean nothing here (RFC 8840, section 9).
            lines.append("m=\(description.kind) 9 RTP/AVP 0")
            lines.append("a=mid:\(description.mid)")
            lines += description.candidates.map { "a=candidate:\($0.sdpValue)" }
            if description.isComplete { lines.append("a=end-of-candidates") }
        }
        return lines.joined(separator: "\r\n") + "\r\n"
    }
}

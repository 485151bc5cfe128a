import SecureTransport

extension TrickleICEFragment {
    /// Parses the text. Candidates that are unusable here or that cannot be parsed are ignored (RFC 8839, section 5.1),
    /// as are unknown attributes and lines.
    /// - Throws: `SDPError.malformed` with the faulty line.
    public init(parsing text: String) throws(SDPError) {
        guard text.utf8.count <= Self.maximumSize else {
            throw .malformed(
                line: 1,
                reason: "the fragment has \(text.utf8.count) bytes, at most \(Self.maximumSize) are accepted")
        }
        self.init()
        var reader = FragmentReader()
        for line in try SessionDescription.lines(of: text) {
            switch line.type {
            case "m": try reader.startMedia(MediaDescription(parsing: line))
            case "a": try reader.read(SDPAttribute(parsing: line))
            default: break
            }
        }
        self = try reader.finish()
    }
}

/// Builds a fragment line by line.
private struct FragmentReader {
    private var fragment = TrickleICEFragment()
    /// A media description whose `a=mid` may still follow.
    private var open: (media: TrickleICEFragment.Media, line: Int)?
    private var usernameFragment: SDPAttribute?
    private var password: SDPAttribute?
    private var candidateCount = 0

    mutating func startMedia(_ description: MediaDescription) throws(SDPError) {
        try closeMedia()
        guard fragment.media.count < SessionDescription.maximumMediaCount else {
            throw .malformed(
                line: description.line, reason: "more than \(SessionDescription.maximumMediaCount) 'm=' lines")
        }
        open = (TrickleICEFragment.Media(kind: description.kind, mid: ""), description.line)
    }

    mutating func read(_ attribute: SDPAttribute) throws(SDPError) {
        let value = attribute.value ?? ""
        switch attribute.name {
        // The credentials of the first media description apply to all: they share one transport.
        case "ice-ufrag": usernameFragment = usernameFragment ?? attribute
        case "ice-pwd": password = password ?? attribute
        case "ice-lite": fragment.isLite = true
        case "ice-options":
            if fragment.options.isEmpty { fragment.options = Substring(value).words.map { String($0) } }
        case "group":
            let words = Substring(value).words
            if words.first == "BUNDLE", fragment.bundle.isEmpty { fragment.bundle = words[1...].map { String($0) } }
        case "mid":
            guard !value.isEmpty, !value.utf8.contains(UInt8(ascii: " ")) else {
                throw .malformed(line: attribute.line, reason: "'a=mid' needs one tag")
            }
            open?.media.mid = value
        case "end-of-candidates":
            if open == nil { fragment.isComplete = true } else { open?.media.isComplete = true }
        case "candidate": try readCandidate(value, line: attribute.line)
        default: break
        }
    }

    private mutating func readCandidate(_ value: String, line: Int) throws(SDPError) {
        candidateCount += 1
        guard candidateCount <= TrickleICEFragment.maximumCandidateCount else {
            throw .malformed(
                line: line, reason: "more than \(TrickleICEFragment.maximumCandidateCount) candidates")
        }
        if let candidate = try? ICECandidate.parse(value) { open?.media.candidates.append(candidate) }
    }

    private mutating func closeMedia() throws(SDPError) {
        guard let (media, line) = open else { return }
        guard !media.mid.isEmpty else {
            throw .malformed(line: line, reason: "this media description has no 'a=mid' to identify it")
        }
        fragment.media.append(media)
        open = nil
    }

    mutating func finish() throws(SDPError) -> TrickleICEFragment {
        try closeMedia()
        switch (usernameFragment, password) {
        case (nil, nil): break
        case (let fragmentAttribute?, let passwordAttribute?):
            guard let text = fragmentAttribute.value, ICECredentials.isUsernameFragment(text) else {
                throw .malformed(line: fragmentAttribute.line, reason: "'a=ice-ufrag' has 4 to 256 letters and digits")
            }
            guard let secret = passwordAttribute.value, ICECredentials.isPassword(secret) else {
                throw .malformed(line: passwordAttribute.line, reason: "'a=ice-pwd' has 22 to 256 letters and digits")
            }
            fragment.credentials = ICECredentials(usernameFragment: text, password: secret)
        case (let attribute?, nil):
            throw .malformed(line: attribute.line, reason: "'a=ice-ufrag' comes with 'a=ice-pwd'")
        case (nil, let attribute?):
            throw .malformed(line: attribute.line, reason: "'a=ice-pwd' comes with 'a=ice-ufrag'")
        }
        return fragment
    }
}

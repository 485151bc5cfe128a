import SecureTransport

// The attributes of a transport of ICE and DTLS. Each stands at a media description, or at the session and then applies
// to the media descriptions without one.
extension SessionDescription {
    /// The most fingerprints, and the most candidates, that are read from a media description.
    private static let maximumCount = 64

    private func attributes(_ name: String, of description: MediaDescription) -> [SDPAttribute] {
        let own = description.attributes.filter { $0.name == name && $0.value != nil }
        return own.isEmpty ? attributes.filter { $0.name == name && $0.value != nil } : own
    }

    /// Returns the credentials of connectivity checks (RFC 8839, section 5.4); nil unless both are present.
    func iceCredentials(of description: MediaDescription) throws(SDPError) -> ICECredentials? {
        guard let fragment = attributes("ice-ufrag", of: description).first,
            let password = attributes("ice-pwd", of: description).first
        else { return nil }
        guard let fragmentText = fragment.value, ICECredentials.isUsernameFragment(fragmentText) else {
            throw fragment.error("a=ice-ufrag is not 4 to 256 letters, digits, '+' or '/'")
        }
        guard let passwordText = password.value, ICECredentials.isPassword(passwordText) else {
            throw password.error("a=ice-pwd is not 22 to 256 letters, digits, '+' or '/'")
        }
        return ICECredentials(usernameFragment: fragmentText, password: passwordText)
    }

    /// Returns the SHA-256 fingerprints of the certificate (RFC 8122, section 5). Digests of other hash functions are
    /// ignored.
    func fingerprints(of description: MediaDescription) throws(SDPError) -> [CertificateFingerprint] {
        var found: [CertificateFingerprint] = []
        for attribute in attributes("fingerprint", of: description).prefix(Self.maximumCount) {
            let words = Substring(attribute.value ?? "").words
            guard words.count == 2 else { throw attribute.error("expected 'a=fingerprint:<hash> <digest>'") }
            guard words[0].lowercased() == "sha-256" else { continue }
            guard let fingerprint = CertificateFingerprint(words[1]) else {
                throw attribute.error(
                    "'\(words[1].excerpt)' is not the 32 bytes of a SHA-256 digest in hexadecimal, joined by colons")
            }
            if !found.contains(fingerprint) { found.append(fingerprint) }
        }
        return found
    }

    /// Returns `a=setup`; nil if there is none.
    func dtlsSetup(of description: MediaDescription) throws(SDPError) -> DTLSSetup? {
        guard let attribute = attributes("setup", of: description).first, let text = attribute.value else { return nil }
        guard let setup = DTLSSetup(rawValue: text) else {
            throw attribute.error("'\(text.excerpt)' is not one of active, passive, actpass and holdconn")
        }
        return setup
    }

    /// Returns true if there is a fingerprint of any hash function.
    func hasFingerprint(_ description: MediaDescription) -> Bool {
        !attributes("fingerprint", of: description).isEmpty
    }

    /// Returns the candidates of a media description (RFC 8839, section 5.1). Candidates that are unusable here or that
    /// cannot be parsed are ignored, as the RFC demands.
    func iceCandidates(of description: MediaDescription) -> [ICECandidate] {
        description.attributes.lazy.filter { $0.name == "candidate" }.prefix(Self.maximumCount)
            .compactMap { try? $0.value.flatMap(ICECandidate.parse) }
    }

    /// The interval at which the describing side wants feedback on its packets: `a=x-feedback-interval`, in
    /// milliseconds; nil without a number from 10 to 250. The attribute is this project's own; others ignore it
    /// (RFC 8866, section 5.13).
    var feedbackInterval: Duration? {
        get {
            let values = attributes.lazy.filter { $0.name == "x-feedback-interval" }.map(\.value)
            guard let milliseconds = values.first.flatMap({ $0.flatMap(Int.init) }), (10...250).contains(milliseconds)
            else { return nil }
            return .milliseconds(milliseconds)
        }
        set {
            attributes.removeAll { $0.name == "x-feedback-interval" }
            guard let newValue else { return }
            attributes.append(SDPAttribute("x-feedback-interval", "\(Int((newValue / .milliseconds(1)).rounded()))"))
        }
    }

    /// True if the describing side only answers connectivity checks (RFC 8839, section 5.3).
    var isICELite: Bool { attributes.contains { $0.name == "ice-lite" } }

    /// Returns true if candidates may follow later (RFC 8840, section 4.1.3). Some implementations write commas between
    /// the options.
    func trickles(_ description: MediaDescription) -> Bool {
        attributes("ice-options", of: description).contains { attribute in
            (attribute.value ?? "").split { $0 == " " || $0 == "," }.contains("trickle")
        }
    }
}

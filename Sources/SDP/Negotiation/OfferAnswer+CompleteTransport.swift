import SecureTransport

extension OfferAnswer {
    /// Returns the transport over ICE and DTLS that an answer accepts; nil if the offer had another kind of transport,
    /// or if no stream is accepted.
    static func acceptedTransport(
        pending: PendingOffer, answer: SessionDescription, bundle: [Int]?
    ) throws(SDPError) -> NegotiatedTransport? {
        guard case .dtls(_, let credentials) = pending.parameters.transport else { return nil }
        let accepted = answer.media.indices.filter { answer.media[$0].port != 0 }
        guard let first = bundle?.first ?? accepted.first else { return nil }
        if let outside = accepted.first(where: { $0 != first && !(bundle?.contains($0) ?? false) }) {
            throw .mismatchedAnswer(
                line: answer.media[outside].line,
                reason: "there is one transport, and this media is not in the group (a=group:BUNDLE) that shares it")
        }
        let description = answer.media[first]
        func mismatch(_ reason: String) -> SDPError { .mismatchedAnswer(line: description.line, reason: reason) }
        guard let remote = try answer.iceCredentials(of: description) else {
            throw mismatch("a=ice-ufrag and a=ice-pwd are missing")
        }
        let fingerprints = try answer.fingerprints(of: description)
        guard !fingerprints.isEmpty else { throw mismatch("a=fingerprint is missing, or is none of sha-256") }
        let role: DTLSRole
        switch try answer.dtlsSetup(of: description) {
        case .active: role = .server
        case .passive: role = .client
        case .either, .hold, nil: throw mismatch("a=setup is neither active nor passive, as an answer's has to be")
        }
        return NegotiatedTransport(
            localCredentials: credentials, remoteCredentials: remote, isRemoteLite: answer.isICELite,
            remoteCandidates: answer.iceCandidates(of: description), dtlsRole: role, remoteFingerprints: fingerprints)
    }
}

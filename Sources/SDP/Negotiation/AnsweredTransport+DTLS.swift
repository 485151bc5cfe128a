import SecureTransport

extension AnsweredTransport {
    /// Returns the one transport of the streams over ICE and DTLS: the streams of the offer's group (RFC 8843) or, if
    /// none of the streams is in it, the first stream alone. Returns nil if there is no stream, or no usable transport.
    ///
    /// - Throws: `SDPError.malformed`; `SDPError.unacceptable` if the offer asks for something that a running session
    ///   cannot do.
    static func overDTLS(
        _ streams: [OfferedStream], of offer: SessionDescription, bundle: BundleGroup?,
        previous: NegotiatedTransport?, rejections: inout [OfferAnswer.Rejection],
        using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> AnsweredTransport? {
        let grouped = (bundle?.mids ?? []).compactMap { mid in streams.first { $0.description.mid == mid } }
        let members = grouped.isEmpty ? Array(streams.prefix(1)) : grouped
        guard let first = members.first else { return nil }
        for stream in streams where !members.contains(where: { $0.index == stream.index }) {
            rejections.append(
                OfferAnswer.Rejection(
                    line: stream.description.line,
                    reason: "there is one transport, and this media is not in the group (a=group:BUNDLE) that shares it"
                ))
        }

        // The transport's attributes stand at the first media description of the group and need not be repeated at
        // others. If we do not take the first one, they may stand at a media description that is rejected.
        let group = grouped.isEmpty ? [] : (bundle?.mids ?? [])
        let describing =
            [first.description] + group.compactMap { mid in offer.media.first { $0.mid == mid } }
        guard describing.contains(where: \.rtcpMux) else {
            rejections.append(
                OfferAnswer.Rejection(line: first.description.line, reason: "a=rtcp-mux is missing: one port has all"))
            return nil
        }
        var reason: OfferAnswer.Rejection?
        for description in describing {
            switch try RemoteTransport.read(description, of: offer) {
            case .missing(let text):
                reason = reason ?? OfferAnswer.Rejection(line: description.line, reason: text)
            case .complete(let remote):
                return AnsweredTransport(
                    indices: members.map(\.index), isBundle: !grouped.isEmpty,
                    security: .dtls(
                        try remote.answered(previous: previous, line: description.line, using: &generator)))
            }
        }
        if let reason { rejections.append(reason) }
        return nil
    }
}

/// The offer's side of a transport over ICE and DTLS.
private struct RemoteTransport {
    var credentials: ICECredentials
    var fingerprints: [CertificateFingerprint]
    var setup: DTLSSetup
    /// The answerer's role, which follows from `setup`.
    var role: DTLSRole

    enum Reading {
        case complete(RemoteTransport)
        case missing(String)
    }

    static func read(_ description: MediaDescription, of offer: SessionDescription) throws(SDPError) -> Reading {
        guard let credentials = try offer.iceCredentials(of: description) else {
            return .missing("a=ice-ufrag and a=ice-pwd are missing, which DTLS-SRTP needs here")
        }
        let fingerprints = try offer.fingerprints(of: description)
        guard !fingerprints.isEmpty else {
            return .missing(
                offer.hasFingerprint(description)
                    ? "no a=fingerprint is of sha-256, the one hash function that is supported"
                    : "a=fingerprint is missing, by which the certificate of the DTLS handshake is verified")
        }
        guard let setup = try offer.dtlsSetup(of: description) else {
            return .missing("a=setup is missing: offer a=setup:actpass")
        }
        guard let role = setup.answererRole else {
            return .missing("a=setup:\(setup.rawValue) asks for no DTLS handshake: offer a=setup:actpass")
        }
        guard !offer.isICELite else {
            return .missing("both sides would be ICE-lite (a=ice-lite), and neither would send checks")
        }
        return .complete(
            RemoteTransport(credentials: credentials, fingerprints: fingerprints, setup: setup, role: role))
    }

    /// Returns the transport with our side of it. A running transport continues: its certificates and roles are those
    /// of the handshake that made it. Only new remote credentials need new ones of ours (an ICE restart, RFC 8839,
    /// section 4.4.1.1).
    func answered(
        previous: NegotiatedTransport?, line: Int, using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> NegotiatedTransport {
        guard let previous else {
            return NegotiatedTransport(
                localCredentials: ICECredentials(using: &generator), remoteCredentials: credentials, dtlsRole: role,
                remoteFingerprints: fingerprints)
        }
        // Not only another fingerprint, also one more or one less, asks for another DTLS association (RFC 8842, section
        // 3.1), which a running session cannot get.
        guard Set(fingerprints) == Set(previous.remoteFingerprints) else {
            throw .unacceptable(
                line: line, reason: "the certificate (a=fingerprint) has changed: leave, and join again")
        }
        guard setup == .either || role == previous.dtlsRole else {
            throw .unacceptable(
                line: line,
                reason: "a=setup:\(setup.rawValue) exchanges the roles of the DTLS handshake: offer a=setup:actpass")
        }
        var transport = previous
        if credentials != previous.remoteCredentials {
            transport.localCredentials = ICECredentials(using: &generator)
            transport.remoteCredentials = credentials
        }
        return transport
    }
}

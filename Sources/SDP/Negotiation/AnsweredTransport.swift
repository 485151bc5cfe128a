import SecureTransport

/// A transport of an answer: one stream's, or that of a bundle.
struct AnsweredTransport {
    enum Security {
        /// The keys, and the tag of the offered `a=crypto`.
        case sessionDescription(tag: UInt32, keys: SRTPKeyPair)
        case dtls(NegotiatedTransport)
    }

    /// The indices of its streams' media descriptions. Keys, candidates and addresses are those of the first.
    var indices: [Int]
    var isBundle: Bool
    var security: Security
    var remoteRTPAddress: TransportAddress?
    var remoteRTCPAddress: TransportAddress?

    var keys: SRTPKeyPair? {
        guard case .sessionDescription(_, let keys) = security else { return nil }
        return keys
    }

    var negotiated: NegotiatedTransport? {
        guard case .dtls(let transport) = security else { return nil }
        return transport
    }

    /// Notes where the remote side says that it receives. With ICE its checks tell, and nothing else is believed.
    mutating func findRemoteAddresses(in offer: SessionDescription) throws(SDPError) {
        guard negotiated == nil else { return }
        for index in indices where remoteRTPAddress == nil {
            let description = offer.media[index]
            (remoteRTPAddress, remoteRTCPAddress) = try description.remoteAddresses(
                in: offer, rtcpMux: description.rtcpMux)
        }
    }

    func mids(in offer: SessionDescription) -> [String] { indices.compactMap { offer.media[$0].mid } }

    /// What the media description of a stream of this transport says of it.
    func attributes(index: Int, policy: AnswerPolicy) -> [SDPAttribute] {
        switch security {
        case .sessionDescription(let tag, let keys):
            // By RFC 8843, 7.1.3 the first of a bundle would do. Naming the shared key in each does no harm to those
            // who know that, and helps those who read each media description by itself.
            return [CryptoAttribute(tag: tag, keys: keys.outbound).attribute]
        case .dtls(let transport):
            var attributes: [SDPAttribute] = []
            if index == indices.first {
                attributes =
                    ICECandidate.hostCandidates([policy.publicAddress] + policy.alternativeAddresses)
                    .map { SDPAttribute("candidate", $0.sdpValue) } + [SDPAttribute("end-of-candidates")]
            }
            return attributes
                + SDPAttribute.transport(
                    credentials: transport.localCredentials, fingerprint: policy.certificateFingerprint,
                    setup: DTLSSetup(transport.dtlsRole))
        }
    }
}

extension SDPAttribute {
    /// What a media description says of a transport of ICE and DTLS, but for candidates.
    static func transport(
        credentials: ICECredentials, fingerprint: CertificateFingerprint?, setup: DTLSSetup
    ) -> [SDPAttribute] {
        [
            SDPAttribute("ice-ufrag", credentials.usernameFragment), SDPAttribute("ice-pwd", credentials.password),
            fingerprint.map { SDPAttribute("fingerprint", "sha-256 \($0)") }, SDPAttribute("setup", setup.rawValue),
        ].compactMap(\.self)
    }
}

import SecureTransport

/// A transport of an answer, for one stream or for a bundle.
struct AnsweredTransport {
    enum Security {
        /// The keys, and the tag of the offered `a=crypto`.
        case sessionDescription(tag: UInt32, keys: SRTPKeyPair)
        case dtls(NegotiatedTransport)
    }

    /// The indices of its streams' media descriptions. Keys, candidates and addresses come from the first.
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

    /// Stores the addresses at which the remote side says that it receives. With ICE only connectivity checks are
    /// trusted.
    mutating func findRemoteAddresses(in offer: SessionDescription) throws(SDPError) {
        guard negotiated == nil else { return }
        for index in indices where remoteRTPAddress == nil {
            let description = offer.media[index]
            (remoteRTPAddress, remoteRTCPAddress) = try description.remoteAddresses(
                in: offer, rtcpMux: description.rtcpMux)
        }
    }

    func mids(in offer: SessionDescription) -> [String] { indices.compactMap { offer.media[$0].mid } }

    /// Returns the transport's attributes in the media description of one of its streams.
    func attributes(index: Int, policy: AnswerPolicy) -> [SDPAttribute] {
        switch security {
        case .sessionDescription(let tag, let keys):
            // RFC 8843, 7.1.3 needs the key only in the first media description of a bundle. Repeating it in each one
            // does no harm to peers that know this, and helps peers that read each media description by itself.
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
    /// Returns the attributes of a transport of ICE and DTLS in a media description, without candidates.
    static func transport(
        credentials: ICECredentials, fingerprint: CertificateFingerprint?, setup: DTLSSetup
    ) -> [SDPAttribute] {
        [
            SDPAttribute("ice-ufrag", credentials.usernameFragment), SDPAttribute("ice-pwd", credentials.password),
            fingerprint.map { SDPAttribute("fingerprint", "sha-256 \($0)") }, SDPAttribute("setup", setup.rawValue),
        ].compactMap(\.self)
    }
}

extension OfferAnswer {
    /// Answers an offer (RFC 3264, section 6).
    ///
    /// Every `m=` line of the offer has one in the answer, in the same order; those that are not accepted have port 0.
    /// - Parameters:
    ///   - offer: the remote side's offer.
    ///   - policy: what this side is willing to do.
    ///   - generator: makes keys; outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    /// - Throws: `SDPError.malformed` when an attribute that matters cannot be read, `SDPError.unacceptable` with the
    ///   first reason when no stream is left.
    public static func answer(
        offer: SessionDescription, policy: AnswerPolicy, using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> (answer: SessionDescription, session: NegotiatedSession) {
        try offer.checkMids()
        let bundle = BundleGroup(offer)
        var streams: [OfferedStream] = []
        var rejections: [Rejection] = []
        for index in offer.media.indices {
            switch try OfferedStream.examine(
                index, of: offer, bundle: bundle, taken: streams.map(\.kind), policy: policy)
            {
            case .acceptable(let stream): streams.append(stream)
            case .rejected(let rejection): rejections.append(rejection)
            }
        }

        var keyRejections: [Rejection] = []
        var transports = try self.transports(
            of: streams, bundle: bundle, policy: policy, rejections: &keyRejections, using: &generator)
        streams.removeAll { stream in !transports.contains { $0.indices.contains(stream.index) } }
        guard !streams.isEmpty else {
            // A stream that only lacks keys came closest to being accepted: that is the reason to tell.
            let first = keyRejections.first ?? rejections.first ?? Rejection(line: 1, reason: "there is no 'm=' line")
            throw .unacceptable(line: first.line, reason: first.reason)
        }
        for position in transports.indices {
            try transports[position].findRemoteAddresses(in: offer)
        }

        let address = ownAddress(for: offer, policy: policy)
        let cname = policy.cname ?? generator.canonicalName()
        var session = NegotiatedSession(
            media: [], cname: cname, isBundled: transports.contains(where: \.isBundle),
            maximumBitRate: offer.bandwidths.maximumBitRate)
        var answer = SessionDescription(
            origin: SessionDescription.Origin(
                sessionID: "\(UInt64(generator.next() as UInt32))", addressType: address.isIPv6 ? "IP6" : "IP4",
                address: address.host),
            connection: ConnectionAddress(address), timing: offer.timing)
        if let bundled = transports.first(where: \.isBundle) {
            answer.attributes.append(BundleGroup(mids: bundled.mids(in: offer)).attribute)
        }
        var takenSSRCs = streams.flatMap(\.remoteSSRCs)
        for (index, description) in offer.media.enumerated() {
            guard let stream = streams.first(where: { $0.index == index }),
                let transport = transports.first(where: { $0.indices.contains(index) })
            else {
                answer.media.append(description.rejection)
                continue
            }
            let ssrc = generator.ssrc(besides: takenSSRCs)
            takenSSRCs.append(ssrc)
            let (blueprint, media) = settle(
                stream, transport: transport, policy: policy, port: address.port, ssrc: ssrc, cname: cname)
            answer.media.append(blueprint.description)
            session.media.append(media)
        }
        return (answer, session)
    }

    /// The streams' transports: one for those that are bundled, one for each other. Streams whose keys cannot be
    /// accepted get none.
    private static func transports(
        of streams: [OfferedStream], bundle: BundleGroup?, policy: AnswerPolicy, rejections: inout [Rejection],
        using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> [AnsweredTransport] {
        var transports: [AnsweredTransport] = []
        // Bundled RTP has to be multiplexed with its RTCP (RFC 8843, 9.3).
        let bundled = (bundle?.mids ?? []).compactMap { mid in
            streams.first { $0.description.mid == mid && $0.description.rtcpMux }
        }
        let single = streams.filter { stream in !bundled.contains { $0.index == stream.index } }
        for (members, isBundle) in [(bundled, true)] + single.map({ ([$0], false) }) where !members.isEmpty {
            // The first of the group that has acceptable keys lends them to all; others may have none of their own.
            var reasons: [Rejection] = []
            var chosen: (stream: OfferedStream, tag: UInt32, keys: SRTPKeyMaterial)?
            for stream in members where chosen == nil {
                switch try acceptableKeys(of: stream.description, policy: policy) {
                case .usable(let tag, let keys): chosen = (stream, tag, keys)
                case .none(let rejection): reasons.append(rejection)
                }
            }
            guard let chosen else {
                rejections += reasons
                continue
            }
            let others = members.filter { $0.index != chosen.stream.index }
            transports.append(
                AnsweredTransport(
                    indices: [chosen.stream.index] + others.map(\.index), isBundle: isBundle, cryptoTag: chosen.tag,
                    keys: SRTPKeyPair(
                        inbound: chosen.keys,
                        outbound: SRTPKeyMaterial(profile: chosen.keys.profile, using: &generator))))
        }
        return transports
    }

    private enum KeyChoice {
        case usable(tag: UInt32, keys: SRTPKeyMaterial)
        case none(Rejection)
    }

    /// The `a=crypto` to accept: of the profile that the policy likes best, the first in the offer's order.
    private static func acceptableKeys(
        of description: MediaDescription, policy: AnswerPolicy
    ) throws(SDPError) -> KeyChoice {
        var usable: [(tag: UInt32, keys: SRTPKeyMaterial)] = []
        var rejection = Rejection(
            line: description.line, reason: "\(description.transport) needs an a=crypto with the key")
        for crypto in try description.cryptoAttributes() {
            switch try crypto.usability() {
            case .usable(let keys): usable.append((crypto.tag, keys))
            case .unusable(let reason):
                rejection = Rejection(line: crypto.line, reason: "a=crypto:\(crypto.tag) \(reason)")
            }
        }
        for profile in policy.srtpProfiles {
            if let best = usable.first(where: { $0.keys.profile == profile }) {
                return .usable(tag: best.tag, keys: best.keys)
            }
        }
        return .none(rejection)
    }

    /// Our address of the family that the offer uses, where we have one.
    private static func ownAddress(for offer: SessionDescription, policy: AnswerPolicy) -> TransportAddress {
        let connection = offer.connection ?? offer.media.lazy.compactMap(\.connection).first
        guard let wantsIPv6 = connection.map({ $0.addressType == "IP6" }) else { return policy.publicAddress }
        return ([policy.publicAddress] + policy.alternativeAddresses).first { $0.isIPv6 == wantsIPv6 }
            ?? policy.publicAddress
    }

    private static func settle(
        _ stream: OfferedStream, transport: AnsweredTransport, policy: AnswerPolicy, port: UInt16, ssrc: UInt32,
        cname: String
    ) -> (StreamBlueprint, NegotiatedMedia) {
        let description = stream.description
        var blueprint = StreamBlueprint(
            kind: stream.kind, port: port, transport: description.transport, mid: description.mid,
            direction: stream.direction, rtcpMux: description.rtcpMux,
            rtcpPort: description.rtcpMux ? nil : port, reducedSizeRTCP: description.reducedSizeRTCP,
            // By RFC 8843, 7.1.3 the first of a bundle would do. Naming the shared key in each does no harm to those
            // who know that, and helps those who read each media description by itself.
            cryptos: [CryptoAttribute(tag: transport.cryptoTag, keys: transport.keys.outbound)], formats: [],
            extensions: stream.extensions, ssrc: ssrc, cname: cname)
        var media = NegotiatedMedia(
            kind: stream.kind, index: stream.index, mid: description.mid, payloadType: stream.map.payloadType,
            clockRate: stream.map.clockRate, direction: stream.direction, keys: transport.keys,
            feedback: stream.feedback, extensionIDs: stream.extensionIDs,
            outboundExtensionIDs: stream.outboundExtensionIDs, remoteSSRCs: stream.remoteSSRCs, localSSRC: ssrc,
            rtcpMux: description.rtcpMux, reducedSizeRTCP: description.reducedSizeRTCP,
            remoteRTPAddress: transport.remoteRTPAddress, remoteRTCPAddress: transport.remoteRTCPAddress,
            maximumBitRate: description.bandwidths.maximumBitRate)
        var format = StreamBlueprint.Format(map: stream.map, feedback: stream.feedback)
        switch stream.codec {
        case .h264(let offered):
            let answered = offered.answer(
                maximumReceiveLevel: policy.maximumReceiveLevel, maximumSendLevel: policy.maximumSendLevel)
            format.parameters = answered.sdpValue
            // Where both directions share a level, it is the answer's.
            media.h264 =
                offered.levelAsymmetryAllowed
                ? offered.limited(to: policy.maximumSendLevel)
                : offered.limited(to: answered.profileLevelID?.level ?? policy.maximumSendLevel)
            blueprint.maximumBitRate = policy.maximumVideoBitRate
        case .opus(let offered):
            format.parameters = policy.opus.sdpValue
            media.opus = offered
            blueprint.packetTimes = policy.opus.packetTimeAttributes
        }
        blueprint.formats = [format]
        return (blueprint, media)
    }
}

/// A transport of an answer: one stream's, or that of a bundle.
private struct AnsweredTransport {
    /// The indices of its streams' media descriptions; keys and addresses are those of the first.
    var indices: [Int]
    var isBundle: Bool
    var cryptoTag: UInt32
    var keys: SRTPKeyPair
    var remoteRTPAddress: TransportAddress?
    var remoteRTCPAddress: TransportAddress?

    mutating func findRemoteAddresses(in offer: SessionDescription) throws(SDPError) {
        for index in indices where remoteRTPAddress == nil {
            let description = offer.media[index]
            (remoteRTPAddress, remoteRTCPAddress) = try description.remoteAddresses(
                in: offer, rtcpMux: description.rtcpMux)
        }
    }

    func mids(in offer: SessionDescription) -> [String] { indices.compactMap { offer.media[$0].mid } }
}

extension MediaDescription {
    /// The answer to a media description that is not accepted (RFC 3264, section 6).
    fileprivate var rejection: MediaDescription {
        var attributes: [SDPAttribute] = []
        if let mid { attributes.append(SDPAttribute("mid", mid)) }
        attributes.append(SDPAttribute("inactive"))
        return MediaDescription(
            kind: kind, port: 0, transport: transport, formats: Array(formats.prefix(1)), attributes: attributes)
    }
}

internal import MediaCore
import SecureTransport

extension OfferAnswer {
    /// Answers an offer (RFC 3264, section 6; RFC 8829, section 5.3).
    ///
    /// Every `m=` line of the offer has one in the answer, in the same order. Rejected lines have port 0.
    /// A further offer may have fewer lines than the session: where the last answer was lost, the offerer has taken its
    /// offer back (RFC 8829, section 5.7), and with it the lines that were new. Streams of lines that are gone have
    /// ended.
    /// - Parameters:
    ///   - offer: The remote side's offer.
    ///   - policy: The limits within which this side accepts the offer.
    ///   - previous: The answer to the preceding offer of the same session, and its result. Continued streams keep
    ///     their sources. The transport keeps its credentials, role and keys, unless the remote side's ICE credentials
    ///     are new (an ICE restart).
    ///   - generator: Generates keys. Outside tests it must be cryptographic: `SystemRandomNumberGenerator`.
    /// - Throws: `SDPError.malformed` if a relevant attribute cannot be parsed; `SDPError.unacceptable`, with the first
    ///   reason, if no stream is accepted or the offer does not continue the session.
    public static func answer(
        offer: SessionDescription, policy: AnswerPolicy,
        previous: (answer: SessionDescription, session: NegotiatedSession)? = nil,
        using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> (answer: SessionDescription, session: NegotiatedSession) {
        try offer.checkMids()
        let bundle = BundleGroup(offer)
        let sessionExtensions = try offer.extensionMaps()
        var streams: [OfferedStream] = []
        var rejections: [Rejection] = []
        for index in offer.media.indices {
            switch try OfferedStream.examine(
                index, of: offer, bundle: bundle, sessionExtensions: sessionExtensions, policy: policy,
                previous: previous?.session.stream(at: index, continuedBy: offer.media[index]))
            {
            case .acceptable(let stream): streams.append(stream)
            case .rejected(let rejection): rejections.append(rejection)
            }
        }

        // If we answered with audio alone although video was offered, the user would wait for the picture forever. So a
        // new session fails. Within a running session only the stream is rejected, with port 0.
        if previous == nil, !streams.contains(where: { $0.kind == .video }),
            let rejection = rejections.first(where: \.isVideoCodec)
        {
            throw .unacceptable(line: rejection.line, reason: rejection.reason)
        }

        var transportRejections: [Rejection] = []
        var transports = try self.transports(
            of: streams, offer: offer, bundle: bundle, policy: policy, previous: previous?.session,
            rejections: &transportRejections, using: &generator)
        streams.removeAll { stream in !transports.contains { $0.indices.contains(stream.index) } }
        streams = OfferedStream.assigned(streams, policy: policy, rejections: &rejections)
        guard !streams.isEmpty else {
            // A stream that only lacks a transport came closest to being accepted, so its reason is the most helpful
            // one.
            let first =
                transportRejections.first ?? rejections.first ?? Rejection(line: 1, reason: "there is no 'm=' line")
            throw .unacceptable(line: first.line, reason: first.reason)
        }
        for position in transports.indices {
            transports[position].indices.removeAll { index in !streams.contains { $0.index == index } }
            try transports[position].findRemoteAddresses(in: offer)
        }

        var session = NegotiatedSession(
            media: [], cname: previous?.session.cname ?? policy.cname ?? generator.canonicalName(),
            isBundled: transports.contains { $0.isBundle && !$0.indices.isEmpty },
            transport: transports.lazy.compactMap(\.negotiated).first,
            maximumBitRate: offer.bandwidths.maximumBitRate, feedbackInterval: offer.feedbackInterval)
        var answer = head(
            of: offer, policy: policy, transports: transports, previous: previous?.answer, using: &generator)
        let port = ownAddress(for: offer, policy: policy).port
        var sources = SourceNumbers(
            taken: streams.flatMap {
                $0.remoteSSRCs + $0.remoteRetransmissionSSRCs.keys + $0.remoteFlexFECSSRCs.keys
            })
        for stream in streams { sources.keep(those: stream.previous) }
        for (index, description) in offer.media.enumerated() {
            guard let stream = streams.first(where: { $0.index == index }),
                let transport = transports.first(where: { $0.indices.contains(index) })
            else {
                answer.media.append(description.rejection)
                continue
            }
            let (builder, media) = settle(
                stream, transport: transport, policy: policy, port: port, cname: session.cname,
                ssrcs: sources.choose(for: stream, using: &generator))
            answer.media.append(builder.description)
            session.media.append(media)
        }
        return (answer, session)
    }

    /// Returns the transports of the streams: the one over ICE and DTLS if possible, otherwise those whose keys are in
    /// the descriptions. A stream without a possible transport is in none of them.
    private static func transports(
        of streams: [OfferedStream], offer: SessionDescription, bundle: BundleGroup?, policy: AnswerPolicy,
        previous: NegotiatedSession?, rejections: inout [Rejection], using generator: inout some RandomNumberGenerator
    ) throws(SDPError) -> [AnsweredTransport] {
        var streams = streams
        if let previous {
            // A running session keeps its kind of transport.
            let runsOverDTLS = previous.transport != nil
            for stream in streams where stream.usesDTLS != runsOverDTLS {
                rejections.append(
                    Rejection(
                        line: stream.description.line,
                        reason: runsOverDTLS
                            ? "the session runs over DTLS-SRTP, and cannot continue with keys in the description"
                            : "the session runs with keys in the description, and cannot continue over DTLS-SRTP"))
            }
            streams.removeAll { $0.usesDTLS != runsOverDTLS }
        }
        let overDTLS = try AnsweredTransport.overDTLS(
            streams.filter(\.usesDTLS), of: offer, bundle: bundle, previous: previous?.transport,
            rejections: &rejections, using: &generator)
        if let overDTLS { return [overDTLS] }
        return try AnsweredTransport.all(
            ofKeyed: streams.filter { !$0.usesDTLS }, bundle: bundle, policy: policy, rejections: &rejections,
            using: &generator)
    }

    /// Returns the answer without its media descriptions.
    private static func head(
        of offer: SessionDescription, policy: AnswerPolicy, transports: [AnsweredTransport],
        previous: SessionDescription?, using generator: inout some RandomNumberGenerator
    ) -> SessionDescription {
        let address = ownAddress(for: offer, policy: policy)
        var answer = SessionDescription(
            origin: previous?.origin.next
                ?? SessionDescription.Origin(
                    sessionID: "\(UInt64(generator.next() as UInt32))", addressType: address.isIPv6 ? "IP6" : "IP4",
                    address: address.host),
            connection: ConnectionAddress(address), timing: offer.timing)
        if let bundled = transports.first(where: { $0.isBundle && !$0.indices.isEmpty }) {
            answer.attributes.append(BundleGroup(mids: bundled.mids(in: offer)).attribute)
        }
        if let transport = transports.first(where: { $0.negotiated != nil }) {
            let trickles = transport.indices.contains { offer.trickles(offer.media[$0]) }
            answer.attributes.append(SDPAttribute("ice-lite"))
            answer.attributes.append(SDPAttribute("ice-options", trickles ? "ice2 trickle" : "ice2"))
        }
        // Only an offerer that knows the attribute gets it.
        if offer.feedbackInterval != nil { answer.feedbackInterval = policy.feedbackInterval }
        return answer
    }

    /// Returns our address of the offer's address family, if we have one.
    private static func ownAddress(for offer: SessionDescription, policy: AnswerPolicy) -> TransportAddress {
        let connection = offer.connection ?? offer.media.lazy.compactMap(\.connection).first
        guard let wantsIPv6 = connection.map({ $0.addressType == "IP6" }) else { return policy.publicAddress }
        return ([policy.publicAddress] + policy.alternativeAddresses).first { $0.isIPv6 == wantsIPv6 }
            ?? policy.publicAddress
    }

    private static func settle(
        _ stream: OfferedStream, transport: AnsweredTransport, policy: AnswerPolicy, port: UInt16, cname: String,
        ssrcs: (media: UInt32, retransmission: UInt32?, flexFEC: UInt32?)
    ) -> (MediaLineBuilder, NegotiatedMedia) {
        let description = stream.description
        let rtcpMux = description.rtcpMux || stream.usesDTLS
        var builder = MediaLineBuilder(
            kind: stream.kind, port: port, transport: description.transport, mid: description.mid,
            direction: stream.direction, rtcpMux: rtcpMux, rtcpPort: rtcpMux ? nil : port,
            reducedSizeRTCP: description.reducedSizeRTCP,
            transportAttributes: transport.attributes(index: stream.index, policy: policy), formats: [],
            extensions: stream.extensions, content: stream.content, ssrc: ssrcs.media,
            retransmissionSSRC: ssrcs.retransmission, flexFECSSRC: ssrcs.flexFEC, cname: cname,
            msid: stream.usesDTLS ? "mix mix-\(description.kind)" : nil)
        var media = NegotiatedMedia(
            kind: stream.kind, index: stream.index, mid: description.mid, payloadType: stream.map.payloadType,
            retransmissionPayloadType: stream.retransmissionPayloadType,
            flexFECPayloadType: stream.flexFECPayloadType, redundancyPayloadType: stream.redundancyPayloadType,
            content: stream.content, direction: stream.direction, keys: transport.keys, feedback: stream.feedback,
            extensionIDs: stream.extensionIDs, outboundExtensionIDs: stream.outboundExtensionIDs,
            remoteSSRCs: stream.remoteSSRCs, localSSRC: ssrcs.media, localRetransmissionSSRC: ssrcs.retransmission,
            remoteRetransmissionSSRCs: stream.remoteRetransmissionSSRCs, localFlexFECSSRC: ssrcs.flexFEC,
            remoteFlexFECSSRCs: stream.remoteFlexFECSSRCs, rtcpMux: rtcpMux,
            reducedSizeRTCP: description.reducedSizeRTCP, remoteRTPAddress: transport.remoteRTPAddress,
            remoteRTCPAddress: transport.remoteRTCPAddress, maximumBitRate: description.bandwidths.maximumBitRate)
        var format = MediaLineBuilder.Format(
            map: stream.map, feedback: stream.feedback, retransmissionPayloadType: stream.retransmissionPayloadType)
        switch stream.codec {
        case .h264(let offered):
            let answered = offered.answer(
                maximumReceiveLevel: policy.maximumReceiveLevel, maximumSendLevel: policy.maximumSendLevel)
            format.parameters = answered.sdpValue
            // If both directions share a level, it is the answer's.
            media.h264 =
                offered.levelAsymmetryAllowed
                ? offered.limited(to: policy.maximumSendLevel)
                : offered.limited(to: answered.profileLevelID?.level ?? policy.maximumSendLevel)
            builder.maximumBitRate = policy.maximumVideoBitRate
        case .opus(let offered):
            format.parameters = policy.opus.sdpValue
            media.opus = offered
            builder.packetTimes = policy.opus.packetTimeAttributes
        }
        builder.formats = [format]
        // FEC packets are not retransmitted, and their loss damages no picture. So the only feedback on them is about
        // arrival.
        let arrival = FeedbackSupport(transportCC: stream.feedback.transportCC, remb: stream.feedback.remb)
        builder.flexFEC = stream.flexFECPayloadType.map { ($0, arrival) }
        builder.redundancyPayloadType = stream.redundancyPayloadType
        return (builder, media)
    }
}

/// The sources of an answer's streams: continued streams keep theirs, and new sources differ from all others.
private struct SourceNumbers {
    var taken: [UInt32]

    mutating func keep(those media: NegotiatedMedia?) {
        guard let media else { return }
        taken.append(media.localSSRC)
        if let retransmission = media.localRetransmissionSSRC { taken.append(retransmission) }
        if let flexFEC = media.localFlexFECSSRC { taken.append(flexFEC) }
    }

    mutating func choose(
        for stream: OfferedStream, using generator: inout some RandomNumberGenerator
    ) -> (media: UInt32, retransmission: UInt32?, flexFEC: UInt32?) {
        func new() -> UInt32 {
            let ssrc = generator.ssrc(besides: taken)
            taken.append(ssrc)
            return ssrc
        }
        let media = stream.previous?.localSSRC ?? new()
        let retransmission =
            stream.retransmissionPayloadType.map { _ in stream.previous?.localRetransmissionSSRC ?? new() }
        return (
            media, retransmission, stream.flexFECPayloadType.map { _ in stream.previous?.localFlexFECSSRC ?? new() }
        )
    }
}

extension SessionDescription.Origin {
    /// The origin of the next description of the same session (RFC 3264, section 8).
    var next: SessionDescription.Origin {
        var next = self
        next.sessionVersion = UInt64(sessionVersion).map { "\($0 &+ 1)" } ?? sessionVersion
        return next
    }
}

extension NegotiatedSession {
    /// Returns the stream of the `m=` line `index` if `description` continues it. A line that was reused for another
    /// stream has another tag (RFC 8829, section 5.2.2) or another kind.
    func stream(at index: Int, continuedBy description: MediaDescription) -> NegotiatedMedia? {
        media.first {
            $0.index == index && $0.mid == description.mid
                && description.kind == ($0.kind == .video ? .video : .audio)
        }
    }
}

extension MediaDescription {
    /// The answer to a rejected media description (RFC 3264, section 6).
    fileprivate var rejection: MediaDescription {
        var attributes: [SDPAttribute] = []
        if let mid { attributes.append(SDPAttribute("mid", mid)) }
        attributes.append(SDPAttribute("inactive"))
        return MediaDescription(
            kind: kind, port: 0, transport: transport, formats: Array(formats.prefix(1)), attributes: attributes)
    }
}

internal import MediaCore
import SecureTransport

extension OfferAnswer {
    /// Builds the session from the answer to our offer (RFC 3264, section 7). Directions are the offerer's.
    /// - Throws: `SDPError.mismatchedAnswer` if the answer accepts something that was not offered;
    ///   `SDPError.unacceptable` if it rejects every stream.
    public static func complete(
        pending: PendingOffer, answer: SessionDescription
    ) throws(SDPError) -> NegotiatedSession {
        guard answer.media.count == pending.streams.count else {
            throw .mismatchedAnswer(
                line: answer.media.last?.line ?? 1,
                reason: "it has \(answer.media.count) 'm=' lines, the offer has \(pending.streams.count)")
        }
        try answer.checkMids()
        let bundle = try acceptedBundle(pending: pending, answer: answer)
        var session = NegotiatedSession(
            media: [], cname: pending.cname, isBundled: bundle != nil,
            transport: try acceptedTransport(pending: pending, answer: answer, bundle: bundle),
            maximumBitRate: answer.bandwidths.maximumBitRate, feedbackInterval: answer.feedbackInterval)
        for (index, (stream, description)) in zip(pending.streams, answer.media).enumerated() {
            guard description.kind == (stream.kind == .video ? .video : .audio) else {
                throw .mismatchedAnswer(
                    line: description.line, reason: "'\(description.kind)' stands where \(stream.kind) was offered")
            }
            guard description.port != 0 else { continue }
            guard stream.isOffered else {
                throw .mismatchedAnswer(line: description.line, reason: "it accepts media that the offer disables")
            }
            guard description.transport == pending.parameters.mediaTransport else {
                throw .mismatchedAnswer(
                    line: description.line, reason: "transport '\(description.transport)' was not offered")
            }
            // A bundle takes its keys and addresses from its first media description (RFC 8843, 7.1.3).
            let transportIndex = (bundle?.contains(index) ?? false) ? bundle?.first ?? index : index
            session.media.append(
                try completed(
                    index, stream: stream, description: description, pending: pending, answer: answer,
                    transportIndex: transportIndex))
        }
        guard !session.media.isEmpty else {
            throw .unacceptable(line: answer.media.first?.line ?? 1, reason: "the answer rejects every stream")
        }
        return session
    }

    /// Returns the indices of the media descriptions that the answer bundles; nil if it bundles none.
    private static func acceptedBundle(
        pending: PendingOffer, answer: SessionDescription
    ) throws(SDPError) -> [Int]? {
        guard let group = BundleGroup(answer) else { return nil }
        var indices: [Int] = []
        for mid in group.mids {
            guard let index = answer.media.firstIndex(where: { $0.mid == mid }), pending.streams[index].mid == mid,
                answer.media[index].port != 0
            else {
                throw .mismatchedAnswer(
                    line: answer.attributes.first { $0.name == "group" }?.line ?? 1,
                    reason: "the group's '\(mid.excerpt)' is no accepted media of the offered group")
            }
            indices.append(index)
        }
        return indices.isEmpty ? nil : indices
    }

    private static func completed(
        _ index: Int, stream: PendingOffer.Stream, description: MediaDescription, pending: PendingOffer,
        answer: SessionDescription, transportIndex: Int
    ) throws(SDPError) -> NegotiatedMedia {
        let transport = answer.media[transportIndex]
        var keys: SRTPKeyPair?
        var addresses: (rtp: TransportAddress?, rtcp: TransportAddress?)
        if !pending.parameters.isOverDTLS {
            keys = try acceptedKeys(transport, offered: pending.streams[transportIndex].keys)
            addresses = try transport.remoteAddresses(in: answer, rtcpMux: transport.rtcpMux)
        }
        let rtcpMux = description.rtcpMux || pending.parameters.isOverDTLS
        guard !rtcpMux || pending.parameters.isMultiplexed else {
            throw .mismatchedAnswer(line: description.line, reason: "a=rtcp-mux was not offered")
        }
        guard let payloadType = try description.payloadTypes().first(where: { stream.formats[$0] != nil }),
            let format = stream.formats[payloadType]
        else {
            throw .mismatchedAnswer(line: description.line, reason: "none of its payload types was offered")
        }
        var media = NegotiatedMedia(
            kind: stream.kind, index: index, mid: stream.mid, payloadType: payloadType,
            content: stream.content,
            direction: answer.direction(of: description).reversed.intersection(stream.direction),
            keys: keys,
            feedback: FeedbackSupport(try description.rtcpFeedback(), payloadType: payloadType)
                .intersection(stream.feedback),
            remoteSSRCs: try description.ssrcs(), localSSRC: stream.ssrc, rtcpMux: rtcpMux,
            reducedSizeRTCP: description.reducedSizeRTCP && pending.parameters.reducedSizeRTCP,
            remoteRTPAddress: addresses.rtp, remoteRTCPAddress: addresses.rtcp,
            maximumBitRate: description.bandwidths.maximumBitRate)
        for map in try answer.extensionMaps(of: description) {
            guard let known = HeaderExtension(uri: map.uri, kind: stream.kind), let id = map.packetID,
                stream.extensions.contains(where: { $0.id == map.id && $0.uri == map.uri }),
                map.direction != .inactive
            else { continue }
            media.extensionIDs[known] = id
            if map.direction?.receives ?? true { media.outboundExtensionIDs[known] = id }
        }
        if media.extensionIDs.transportSequenceNumber == nil { media.feedback.transportCC = false }

        let parameters = try description.formatParameters(payloadType: payloadType)
        switch format {
        case .h264(let offered, let retransmissionPayloadType):
            if let flexFEC = stream.flexFEC, try description.flexFECPayloadType() == flexFEC.payloadType {
                media.flexFECPayloadType = flexFEC.payloadType
                media.localFlexFECSSRC = flexFEC.ssrc
                media.remoteFlexFECSSRCs = description.flexFECSSRCs()
            }
            if let retransmissionPayloadType, media.feedback.nack,
                try description.retransmissionPayloadType(of: .h264(payloadType)) == retransmissionPayloadType
            {
                media.retransmissionPayloadType = retransmissionPayloadType
                media.localRetransmissionSSRC = stream.retransmissionSSRC
                media.remoteRetransmissionSSRCs = description.retransmissionSSRCs()
            }
            let answered = try H264FormatParameters(parameters)
            guard answered.packetizationMode == offered.packetizationMode,
                (answered.profileLevelID ?? .inferred).profile == offered.profile
            else {
                throw .mismatchedAnswer(
                    line: description.line,
                    reason: "profile and packetization mode of payload type \(payloadType) are not the offered ones")
            }
            let isAsymmetric = offered.levelAsymmetryAllowed && answered.levelAsymmetryAllowed
            media.h264 =
                isAsymmetric
                ? answered
                : answered.limited(to: offered.profileLevelID?.level ?? H264ProfileLevelID.inferred.level)
        case .opus:
            if let redundancy = stream.redundancyPayloadType,
                try description.redundancyPayloadType(of: .opus(payloadType)) == redundancy
            {
                media.redundancyPayloadType = redundancy
            }
            media.opus = try OpusFormatParameters(parameters, media: description)
        }
        return media
    }

    /// Returns the one `a=crypto` of an answer, with the offered one that it accepts (RFC 4568, 5.1.3).
    private static func acceptedKeys(
        _ description: MediaDescription, offered: [UInt32: SRTPKeyMaterial]
    ) throws(SDPError) -> SRTPKeyPair {
        let cryptos = try description.cryptoAttributes()
        guard cryptos.count == 1, let crypto = cryptos.first else {
            throw .mismatchedAnswer(
                line: description.line, reason: "it has \(cryptos.count) a=crypto lines, one is expected")
        }
        guard let outbound = offered[crypto.tag] else {
            throw .mismatchedAnswer(line: crypto.line, reason: "crypto tag \(crypto.tag) was not offered")
        }
        switch try crypto.usability() {
        case .unusable(let reason):
            throw .mismatchedAnswer(line: crypto.line, reason: "a=crypto:\(crypto.tag) \(reason)")
        case .usable(let inbound):
            guard inbound.profile == outbound.profile else {
                throw .mismatchedAnswer(
                    line: crypto.line,
                    reason: "crypto tag \(crypto.tag) was offered with \(outbound.profile.cryptoSuiteName)")
            }
            return SRTPKeyPair(inbound: inbound, outbound: outbound)
        }
    }
}

import SecureTransport

extension OfferAnswer {
    /// Makes an offer (RFC 3264, section 5; RFC 8829, section 5.2) with the streams that the parameters ask for: audio
    /// first, then video, then screen share.
    /// - Parameters:
    ///   - parameters: The streams and the transport to offer.
    ///   - previous: The preceding offer of the same session. Its `m=` lines stay in their places; lines that are no
    ///     longer wanted are disabled. Streams keep their sources and keys. New ICE credentials in the parameters ask
    ///     for an ICE restart.
    ///   - generator: Generates keys. Outside tests it must be cryptographic: `SystemRandomNumberGenerator`.
    public static func makeOffer(
        _ parameters: OfferParameters, previous: PendingOffer? = nil, using generator: inout some RandomNumberGenerator
    ) -> (offer: SessionDescription, pending: PendingOffer) {
        var pending = PendingOffer(
            parameters: parameters, cname: previous?.cname ?? parameters.cname ?? generator.canonicalName(),
            origin: previous?.origin.next
                ?? SessionDescription.Origin(
                    sessionID: "\(UInt64(generator.next() as UInt32))",
                    addressType: parameters.address.isIPv6 ? "IP6" : "IP4", address: parameters.address.host),
            streams: [])
        var offer = SessionDescription(
            origin: pending.origin, connection: ConnectionAddress(parameters.address))
        var wanted: [(kind: NegotiatedMedia.Kind, content: NegotiatedMedia.Content)] =
            (previous?.streams ?? []).map { ($0.kind, $0.content) }
        for (kind, content) in [(NegotiatedMedia.Kind.audio, .main), (.video, .main), (.video, .screenShare)]
            as [(NegotiatedMedia.Kind, NegotiatedMedia.Content)]
        where parameters.media(kind, content) != nil && !wanted.contains(where: { $0 == (kind, content) }) {
            wanted.append((kind, content))
        }

        var sources = (previous?.streams ?? []).flatMap {
            [$0.ssrc] + [$0.retransmissionSSRC, $0.flexFEC?.ssrc].compactMap(\.self)
        }
        for (index, stream) in wanted.enumerated() {
            let before = previous.flatMap { $0.streams.indices.contains(index) ? $0.streams[index] : nil }
            let (builder, pendingStream) = offeredStream(
                stream.kind, content: stream.content, mid: parameters.isBundled ? "\(index)" : nil,
                // The transport of the first offered media description is the one of the bundle (RFC 8843, section
                // 7.2).
                isFirst: !pending.streams.contains(where: \.isOffered), parameters: parameters, cname: pending.cname,
                previous: before, sources: &sources, using: &generator)
            offer.media.append(builder.description)
            pending.streams.append(pendingStream)
        }
        let mids = pending.streams.filter(\.isOffered).compactMap(\.mid)
        if !mids.isEmpty { offer.attributes.append(BundleGroup(mids: mids).attribute) }
        offer.feedbackInterval = parameters.feedbackInterval
        if parameters.isOverDTLS { offer.attributes.append(SDPAttribute("ice-options", "ice2")) }
        return (offer, pending)
    }

    private static func offeredStream(
        _ kind: NegotiatedMedia.Kind, content: NegotiatedMedia.Content, mid: String?, isFirst: Bool,
        parameters: OfferParameters, cname: String, previous: PendingOffer.Stream?, sources: inout [UInt32],
        using generator: inout some RandomNumberGenerator
    ) -> (MediaLineBuilder, PendingOffer.Stream) {
        let media = parameters.media(kind, content)
        // A bundle needs the same identifiers in each media description.
        let extensions = HeaderExtension.allCases.enumerated().filter { _, known in
            parameters.headerExtensions.contains(known) && known.isUsed(in: kind) && (known != .mid || mid != nil)
        }.map { ExtensionMap(id: UInt16($0.offset + 1), uri: $0.element.uri) }
        var feedback = media?.feedback ?? .none
        if !parameters.headerExtensions.contains(.transportSequenceNumber) { feedback.transportCC = false }

        func source() -> UInt32 {
            let ssrc = generator.ssrc(besides: sources)
            sources.append(ssrc)
            return ssrc
        }
        var stream = PendingOffer.Stream(
            kind: kind, content: content, isOffered: media != nil, mid: mid, direction: media?.direction ?? .inactive,
            ssrc: previous?.ssrc ?? source(), formats: [:], keys: [:], extensions: extensions, feedback: feedback)
        if media?.video?.formats.contains(where: { $0.retransmissionPayloadType != nil }) ?? false, feedback.nack {
            stream.retransmissionSSRC = previous?.retransmissionSSRC ?? source()
        }
        if let payloadType = media?.video?.flexFECPayloadType {
            stream.flexFEC = (payloadType, previous?.flexFEC?.ssrc ?? source())
        }
        var builder = MediaLineBuilder(
            kind: kind, port: media == nil ? 0 : parameters.address.port, transport: parameters.mediaTransport,
            mid: mid,
            direction: stream.direction, rtcpMux: parameters.isMultiplexed,
            // Without multiplexing there is still one socket. The port is named so that no peer sends RTCP to the next
            // port.
            rtcpPort: parameters.isMultiplexed ? nil : parameters.address.port,
            reducedSizeRTCP: parameters.reducedSizeRTCP,
            transportAttributes: transportAttributes(
                of: &stream, isFirst: isFirst, parameters: parameters, previous: previous, using: &generator),
            formats: [], extensions: extensions, content: content, ssrc: stream.ssrc,
            retransmissionSSRC: stream.retransmissionSSRC, flexFECSSRC: stream.flexFEC?.ssrc, cname: cname)
        let arrival = FeedbackSupport(transportCC: feedback.transportCC, remb: feedback.remb)
        builder.flexFEC = stream.flexFEC.map { ($0.payloadType, arrival) }
        if let video = media?.video {
            for format in video.formats {
                let retransmission = feedback.nack ? format.retransmissionPayloadType : nil
                stream.formats[format.payloadType] = .h264(
                    format.parameters, retransmissionPayloadType: retransmission)
                builder.formats.append(
                    MediaLineBuilder.Format(
                        map: .h264(format.payloadType), parameters: format.parameters.sdpValue, feedback: feedback,
                        retransmissionPayloadType: retransmission))
            }
            builder.maximumBitRate = video.maximumBitRate
        } else if kind == .audio, let audio = parameters.audio {
            stream.formats[audio.payloadType] = .opus
            stream.redundancyPayloadType = audio.redundancyPayloadType
            builder.redundancyPayloadType = audio.redundancyPayloadType
            builder.formats = [
                MediaLineBuilder.Format(
                    map: .opus(audio.payloadType), parameters: audio.opus.sdpValue, feedback: feedback)
            ]
            builder.packetTimes = audio.opus.packetTimeAttributes
        } else {
            // A line needs a format, even if it only keeps a place.
            builder.formats = [MediaLineBuilder.Format(map: kind == .video ? .h264(96) : .opus(111), feedback: .none)]
        }
        return (builder, stream)
    }

    /// Returns the transport's attributes for a media description, and stores the offered keys in the stream.
    private static func transportAttributes(
        of stream: inout PendingOffer.Stream, isFirst: Bool, parameters: OfferParameters,
        previous: PendingOffer.Stream?, using generator: inout some RandomNumberGenerator
    ) -> [SDPAttribute] {
        guard stream.isOffered else { return [] }
        switch parameters.transport {
        case .sdes(let profiles):
            for (index, profile) in profiles.enumerated() {
                let tag = UInt32(index + 1)
                let before = previous?.keys[tag].flatMap { $0.profile == profile ? $0 : nil }
                stream.keys[tag] = before ?? SRTPKeyMaterial(profile: profile, using: &generator)
            }
            return stream.keys.sorted { $0.key < $1.key }.map { CryptoAttribute(tag: $0.key, keys: $0.value).attribute }
        case .dtls(let fingerprint, let credentials):
            let address = parameters.address
            let isKnown = isFirst && !address.isUnspecified && address.port != 0 && address.port != 9
            return (isKnown ? ICECandidate.hostCandidates([address]) : [])
                .map { SDPAttribute("candidate", $0.sdpValue) }
                + SDPAttribute.transport(credentials: credentials, fingerprint: fingerprint, setup: .either)
        }
    }
}

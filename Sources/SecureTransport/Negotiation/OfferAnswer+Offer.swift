extension OfferAnswer {
    /// Makes an offer (RFC 3264, section 5): audio first, then video, as far as the parameters ask for them.
    /// - Parameter generator: makes keys; outside tests a cryptographic one, `SystemRandomNumberGenerator`.
    public static func makeOffer(
        _ parameters: OfferParameters, using generator: inout some RandomNumberGenerator
    ) -> (offer: SessionDescription, pending: PendingOffer) {
        let cname = parameters.cname ?? generator.canonicalName()
        var pending = PendingOffer(parameters: parameters, cname: cname, streams: [])
        var offer = SessionDescription(
            origin: SessionDescription.Origin(
                sessionID: "\(UInt64(generator.next() as UInt32))",
                addressType: parameters.address.isIPv6 ? "IP6" : "IP4", address: parameters.address.host),
            connection: ConnectionAddress(parameters.address))

        let kinds: [NegotiatedMedia.Kind] =
            (parameters.audio == nil ? [] : [.audio]) + (parameters.video == nil ? [] : [.video])
        for (index, kind) in kinds.enumerated() {
            let (blueprint, stream) = offeredStream(
                kind, mid: parameters.bundle ? "\(index)" : nil, parameters: parameters, cname: cname,
                ssrc: generator.ssrc(besides: pending.streams.map(\.ssrc)), using: &generator)
            offer.media.append(blueprint.description)
            pending.streams.append(stream)
        }
        let mids = pending.streams.compactMap(\.mid)
        if !mids.isEmpty { offer.attributes.append(BundleGroup(mids: mids).attribute) }
        return (offer, pending)
    }

    private static func offeredStream(
        _ kind: NegotiatedMedia.Kind, mid: String?, parameters: OfferParameters, cname: String, ssrc: UInt32,
        using generator: inout some RandomNumberGenerator
    ) -> (StreamBlueprint, PendingOffer.Stream) {
        let keys = parameters.srtpProfiles.map { SRTPKeyMaterial(profile: $0, using: &generator) }
        let cryptos = keys.enumerated().map { CryptoAttribute(tag: UInt32($0.offset + 1), keys: $0.element) }
        // The identifiers stay the same in each media description, as a bundle needs them to.
        let extensions = HeaderExtension.allCases.enumerated().filter { _, known in
            parameters.headerExtensions.contains(known) && known.isUsed(in: kind) && (known != .mid || mid != nil)
        }.map { ExtensionMap(id: UInt16($0.offset + 1), uri: $0.element.uri) }

        var feedback = (kind == .video ? parameters.video?.feedback : parameters.audio?.feedback) ?? .none
        if !parameters.headerExtensions.contains(.transportSequenceNumber) { feedback.transportCC = false }
        let direction = (kind == .video ? parameters.video?.direction : parameters.audio?.direction) ?? .inactive
        var blueprint = StreamBlueprint(
            kind: kind, port: parameters.address.port,
            transport: .rtp(keying: .sessionDescription, feedback: parameters.usesFeedbackProfile), mid: mid,
            direction: direction, rtcpMux: parameters.rtcpMux,
            // Also without multiplexing there is one socket: it is named, so that no one looks at the next port.
            rtcpPort: parameters.rtcpMux ? nil : parameters.address.port,
            reducedSizeRTCP: parameters.reducedSizeRTCP, transportAttributes: cryptos.map(\.attribute), formats: [],
            extensions: extensions,
            ssrc: ssrc, cname: cname)
        var formats: [UInt8: PendingOffer.Stream.Format] = [:]
        switch kind {
        case .video:
            for format in parameters.video?.formats ?? [] {
                formats[format.payloadType] = .h264(format.parameters)
                blueprint.formats.append(
                    StreamBlueprint.Format(
                        map: .h264(format.payloadType), parameters: format.parameters.sdpValue, feedback: feedback))
            }
            blueprint.maximumBitRate = parameters.video?.maximumBitRate
        case .audio:
            guard let audio = parameters.audio else { break }
            formats[audio.payloadType] = .opus
            blueprint.formats = [
                StreamBlueprint.Format(
                    map: .opus(audio.payloadType), parameters: audio.opus.sdpValue, feedback: feedback)
            ]
            blueprint.packetTimes = audio.opus.packetTimeAttributes
        }
        let stream = PendingOffer.Stream(
            kind: kind, mid: mid, direction: direction, ssrc: ssrc, formats: formats,
            keys: Dictionary(
                zip(cryptos.map(\.tag), keys), uniquingKeysWith: { first, _ in first }),
            extensions: extensions, feedback: feedback)
        return (blueprint, stream)
    }
}

/// A stream of an offer that is acceptable by itself: without regard to its transport, which a bundle shares, and to
/// the other streams of the offer.
struct OfferedStream {
    enum Codec {
        case h264(H264FormatParameters)
        case opus(OpusFormatParameters)
    }

    var index: Int
    var kind: NegotiatedMedia.Kind
    /// The content of a video stream, if the offer states it.
    var statedContent: NegotiatedMedia.Content?
    /// The content that this side assigns to the stream.
    var content = NegotiatedMedia.Content.main
    var description: MediaDescription
    var usesDTLS: Bool
    /// The direction as the answerer sees it.
    var direction: MediaDirection
    var map: RTPMap
    var codec: Codec
    var feedback: FeedbackSupport
    /// The payload type of retransmissions in streams of their own.
    var retransmissionPayloadType: UInt8?
    /// The payload type of forward error correction in a stream of its own.
    var flexFECPayloadType: UInt8?
    /// The payload type of packets that repeat earlier audio.
    var redundancyPayloadType: UInt8?
    /// The header extensions of the answer.
    var extensions: [ExtensionMap]
    var extensionIDs = HeaderExtensionIDs()
    var outboundExtensionIDs = HeaderExtensionIDs()
    var remoteSSRCs: [UInt32]
    var remoteRetransmissionSSRCs: [UInt32: UInt32]
    var remoteFlexFECSSRCs: [UInt32: UInt32] = [:]
    /// The negotiated stream before this offer; nil if it is new.
    var previous: NegotiatedMedia?

    enum Outcome {
        case acceptable(OfferedStream)
        case rejected(OfferAnswer.Rejection)
    }

    /// Examines the media description `index` of an offer. `bundle` is the offer's group, `sessionExtensions` are its
    /// header extensions for all media, and `previous` is the negotiated stream before this offer.
    static func examine(
        _ index: Int, of offer: SessionDescription, bundle: BundleGroup?, sessionExtensions: [ExtensionMap],
        policy: AnswerPolicy, previous: NegotiatedMedia?
    ) throws(SDPError) -> Outcome {
        let description = offer.media[index]
        func rejected(_ reason: String) -> Outcome {
            .rejected(OfferAnswer.Rejection(line: description.line, reason: reason))
        }

        let kind: NegotiatedMedia.Kind
        let allowed: MediaDirection?
        switch description.kind {
        case .audio: (kind, allowed) = (.audio, policy.audioDirection)
        case .video: (kind, allowed) = (.video, policy.videoDirection)
        case .other(let name): return rejected("media '\(name.excerpt)' is neither audio nor video")
        }
        let usesDTLS: Bool
        switch description.transport {
        case .rtp(.dtls, _): usesDTLS = true
        // Some senders, such as ffmpeg, describe SRTP with the names of unencrypted profiles; the key reveals SRTP.
        // Others mean DTLS with profiles that do not say so (RFC 8829, section 5.1.3).
        case .rtp where description.hasAttribute("crypto"): usesDTLS = false
        case .rtp where offer.hasFingerprint(description): usesDTLS = true
        case .rtp(.sessionDescription, _): usesDTLS = false
        case .rtp(.none, _):
            return rejected(
                "\(description.transport) is not encrypted: offer UDP/TLS/RTP/SAVPF with a=fingerprint, or RTP/SAVPF "
                    + "with a=crypto")
        case .other(let name): return rejected("transport '\(name.excerpt)' is not supported")
        }
        guard !usesDTLS || policy.certificateFingerprint != nil else {
            return rejected("DTLS-SRTP is not available here: offer RTP/SAVPF or RTP/SAVP with a=crypto")
        }
        let isBundled = bundle?.contains(description) ?? false
        guard
            description.port != 0 || (isBundled && description.bundleOnly && (usesDTLS || description.rtcpMux))
        else { return rejected("the offer disables this media with port 0") }
        guard let allowed else { return rejected("\(description.kind) is not wanted here") }

        let chosen: (RTPMap, Codec)
        switch kind {
        case .video:
            guard let format = try chooseH264(description, policy: policy, previous: previous) else {
                return .rejected(
                    OfferAnswer.Rejection(
                        line: description.line,
                        reason: "calls here use H.264, and no payload type is H264/90000 with packetization mode 0 or "
                            + "1 in an accepted profile; the offer has \(try codecNames(of: description))",
                        isVideoCodec: true))
            }
            chosen = (format.0, .h264(format.1))
        case .audio:
            guard let format = try chooseOpus(description) else {
                return rejected("no payload type is opus/48000/2")
            }
            chosen = (format.0, .opus(format.1))
        }

        var stream = OfferedStream(
            index: index, kind: kind, statedContent: kind == .video ? description.content : nil,
            description: description, usesDTLS: usesDTLS,
            direction: offer.direction(of: description).reversed.intersection(allowed), map: chosen.0,
            codec: chosen.1,
            feedback: FeedbackSupport(try description.rtcpFeedback(), payloadType: chosen.0.payloadType)
                .intersection(kind == .video ? policy.videoFeedback : policy.audioFeedback),
            extensions: [], remoteSSRCs: try description.ssrcs(), remoteRetransmissionSSRCs: [:], previous: previous)
        stream.negotiateExtensions(try description.extensionMaps() + sessionExtensions, policy: policy)
        // Feedback refers to the numbers in the packets; without them there is none.
        if stream.extensionIDs.transportSequenceNumber == nil { stream.feedback.transportCC = false }
        try stream.negotiateRepair(policy)
        return .acceptable(stream)
    }

    /// Chooses what repairs losses of the chosen format: retransmissions, FlexFEC and redundant audio.
    private mutating func negotiateRepair(_ policy: AnswerPolicy) throws(SDPError) {
        // Without NACK the receiver cannot ask for retransmissions.
        if feedback.nack { retransmissionPayloadType = try description.retransmissionPayloadType(of: map) }
        if retransmissionPayloadType != nil { remoteRetransmissionSSRCs = description.retransmissionSSRCs() }
        switch kind {
        case .video where policy.acceptsFlexFEC:
            flexFECPayloadType = try description.flexFECPayloadType()
            if flexFECPayloadType != nil { remoteFlexFECSSRCs = description.flexFECSSRCs() }
        case .audio where policy.acceptsRedundancy:
            redundancyPayloadType = try description.redundancyPayloadType(of: map)
        case .video, .audio: break
        }
    }

    /// Returns the codecs that a media description offers, without the formats that repair others, for an error's text.
    private static func codecNames(of description: MediaDescription) throws(SDPError) -> String {
        let repairs = ["rtx", "red", "ulpfec", "flexfec-03"]
        let maps = try description.rtpMaps()
        var names: [String] = []
        for payloadType in try description.payloadTypes() {
            guard let name = maps[payloadType]?.encodingName, !repairs.contains(name.lowercased()),
                !names.contains(name), names.count < 8
            else { continue }
            names.append(name)
        }
        return names.isEmpty ? "no codec" : names.map { String(Substring($0).excerpt) }.joined(separator: ", ")
    }

    /// Chooses the best H.264 payload type: the previous one if it is still offered; then packetization mode 1 before
    /// 0, because only mode 1 can split a picture's NAL unit; then the policy's order of profiles; then the offer's
    /// order.
    private static func chooseH264(
        _ description: MediaDescription, policy: AnswerPolicy, previous: NegotiatedMedia?
    ) throws(SDPError) -> (RTPMap, H264FormatParameters)? {
        let maps = try description.rtpMaps()
        let attributes = description.formatAttributes()
        var best: (map: RTPMap, parameters: H264FormatParameters, rank: Int)?
        for payloadType in try description.payloadTypes() {
            guard let map = maps[payloadType], map.isH264 else { continue }
            let parameters = try H264FormatParameters(
                attributes[payloadType].map(FormatParameters.init(parsing:))
                    ?? FormatParameters(payloadType: payloadType, values: [:]))
            guard parameters.packetizationMode <= 1, let profile = parameters.profile,
                let position = policy.h264Profiles.firstIndex(of: profile)
            else { continue }
            var rank = position + (parameters.packetizationMode == 1 ? 0 : policy.h264Profiles.count)
            if payloadType == previous?.payloadType { rank = -1 }
            if rank < best?.rank ?? .max { best = (map, parameters, rank) }
        }
        return best.map { ($0.map, $0.parameters) }
    }

    private static func chooseOpus(
        _ description: MediaDescription
    ) throws(SDPError) -> (RTPMap, OpusFormatParameters)? {
        let maps = try description.rtpMaps()
        for payloadType in try description.payloadTypes() {
            guard let map = maps[payloadType], map.isOpus else { continue }
            let parameters = try description.formatParameters(payloadType: payloadType)
            return (map, try OpusFormatParameters(parameters, media: description))
        }
        return nil
    }

    /// Accepts the header extensions that both sides know, each in the reverse of its offered direction
    /// (RFC 8285, section 8).
    private mutating func negotiateExtensions(_ offered: [ExtensionMap], policy: AnswerPolicy) {
        var usedIDs: Set<UInt8> = []
        for map in offered {
            guard let known = HeaderExtension(uri: map.uri, kind: kind), policy.headerExtensions.contains(known),
                known != .mid || description.mid != nil, let id = map.packetID, extensionIDs[known] == nil,
                usedIDs.insert(id).inserted
            else { continue }
            let direction = map.direction?.reversed
            guard direction != .inactive else { continue }
            extensionIDs[known] = id
            if direction?.sends ?? true { outboundExtensionIDs[known] = id }
            extensions.append(ExtensionMap(id: map.id, direction: direction, uri: map.uri))
        }
    }
}

extension HeaderExtension {
    /// Finds the extension with this URI; nil if it is unknown or makes no sense for this kind of media.
    init?(uri: String, kind: NegotiatedMedia.Kind) {
        guard let known = Self.allCases.first(where: { $0.uri == uri }), known.isUsed(in: kind) else { return nil }
        self = known
    }

    func isUsed(in kind: NegotiatedMedia.Kind) -> Bool {
        switch self {
        case .audioLevel: kind == .audio
        case .videoOrientation: kind == .video
        case .transportSequenceNumber, .absoluteSendTime, .mid: true
        }
    }
}

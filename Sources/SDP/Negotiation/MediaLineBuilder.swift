internal import MediaCore
import SecureTransport

/// Builds our media descriptions; offers and answers share it.
struct MediaLineBuilder {
    struct Format {
        var map: RTPMap
        /// The value of `a=fmtp` after the payload type.
        var parameters: String?
        var feedback: FeedbackSupport
        /// The payload type of its retransmissions (RFC 4588).
        var retransmissionPayloadType: UInt8?
    }

    var kind: NegotiatedMedia.Kind
    var port: UInt16
    var transport: MediaTransport
    var mid: String?
    var direction: MediaDirection
    var rtcpMux: Bool
    /// The port of RTCP, if the description names it (RFC 3605).
    var rtcpPort: UInt16?
    var reducedSizeRTCP: Bool
    /// The attributes with the keys, or the attributes that ICE and DTLS need.
    var transportAttributes: [SDPAttribute]
    var formats: [Format]
    /// The payload type of forward error correction, and the feedback on it.
    var flexFEC: (payloadType: UInt8, feedback: FeedbackSupport)?
    /// The payload type of packets that repeat packets of the first format.
    var redundancyPayloadType: UInt8?
    /// `a=ptime` and `a=maxptime`.
    var packetTimes: [SDPAttribute] = []
    var extensions: [ExtensionMap]
    var maximumBitRate: BitRate?
    /// The content of the stream, if the description states it.
    var content: NegotiatedMedia.Content?
    var ssrc: UInt32
    /// The source of retransmissions.
    var retransmissionSSRC: UInt32?
    /// The source of forward error correction.
    var flexFECSSRC: UInt32?
    var cname: String
    /// The media stream and the track of the media (RFC 8830), if the description states them.
    var msid: String?

    var description: MediaDescription {
        var attributes: [SDPAttribute] = []
        attributes += transportAttributes
        if let mid { attributes.append(SDPAttribute("mid", mid)) }
        attributes.append(SDPAttribute(direction.rawValue))
        if direction.sends, let msid { attributes.append(SDPAttribute("msid", msid)) }
        if content == .screenShare { attributes.append(SDPAttribute("content", "slides")) }
        if rtcpMux { attributes.append(SDPAttribute("rtcp-mux")) }
        if let rtcpPort { attributes.append(SDPAttribute("rtcp", "\(rtcpPort)")) }
        if reducedSizeRTCP { attributes.append(SDPAttribute("rtcp-rsize")) }
        for format in formats {
            attributes.append(SDPAttribute("rtpmap", "\(format.map)"))
            if let parameters = format.parameters {
                attributes.append(SDPAttribute("fmtp", "\(format.map.payloadType) \(parameters)"))
            }
            attributes += format.feedback.sdpNames.map {
                SDPAttribute("rtcp-fb", "\(format.map.payloadType) \($0)")
            }
            if let retransmission = format.retransmission {
                attributes.append(SDPAttribute("rtpmap", "\(retransmission)"))
                attributes.append(
                    SDPAttribute("fmtp", "\(retransmission.payloadType) apt=\(format.map.payloadType)"))
            }
        }
        attributes += repairAttributes
        attributes += packetTimes
        attributes += extensions.map(\.attribute)
        if direction.sends { attributes += sourceAttributes }
        return MediaDescription(
            kind: kind == .video ? .video : .audio, port: port, transport: transport,
            formats: (formats.map(\.map) + formats.compactMap(\.retransmission) + repairMaps)
                .map { "\($0.payloadType)" },
            bandwidths: maximumBitRate.map { [.transportIndependent($0)] } ?? [], attributes: attributes)
    }

    /// The sources (RFC 5576). The source of retransmissions is the second of a flow; the source of forward error
    /// correction is the second of its group (RFC 5956).
    private var sourceAttributes: [SDPAttribute] {
        var groups: [SDPAttribute] = []
        if let retransmissionSSRC {
            groups.append(SDPAttribute("ssrc-group", "FID \(ssrc) \(retransmissionSSRC)"))
        }
        if let flexFECSSRC { groups.append(SDPAttribute("ssrc-group", "FEC-FR \(ssrc) \(flexFECSSRC)")) }
        return groups
            + [ssrc, retransmissionSSRC, flexFECSSRC].compactMap {
                $0.map { SDPAttribute("ssrc", "\($0) cname:\(cname)") }
            }
    }

    /// The payload types of forward error correction and of repeated audio.
    private var repairMaps: [RTPMap] {
        [flexFEC.map { RTPMap.flexFEC($0.payloadType) }, redundancyPayloadType.map { RTPMap.redundancy($0) }]
            .compactMap(\.self)
    }

    private var repairAttributes: [SDPAttribute] {
        var attributes = repairMaps.map { SDPAttribute("rtpmap", "\($0)") }
        if let flexFEC {
            attributes += flexFEC.feedback.sdpNames.map { SDPAttribute("rtcp-fb", "\(flexFEC.payloadType) \($0)") }
            // In microseconds (section 5.1 of the draft). Browsers write ten seconds, and limit the number of packets
            // instead.
            attributes.append(SDPAttribute("fmtp", "\(flexFEC.payloadType) repair-window=10000000"))
        }
        if let redundancyPayloadType, let repeated = formats.first?.map.payloadType {
            attributes.append(SDPAttribute("fmtp", "\(redundancyPayloadType) \(repeated)/\(repeated)"))
        }
        return attributes
    }
}

extension MediaLineBuilder.Format {
    /// The `a=rtpmap` of the retransmissions.
    var retransmission: RTPMap? {
        retransmissionPayloadType.map {
            RTPMap(payloadType: $0, encodingName: "rtx", clockRate: map.clockRate)
        }
    }
}

extension RTPMap {
    static func h264(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "H264", clockRate: 90_000)
    }

    /// Returns the map of Opus, which always states 48000 Hz and two channels (RFC 7587, section 7).
    static func opus(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "opus", clockRate: 48_000, channels: 2)
    }

    static func flexFEC(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "flexfec-03", clockRate: 90_000)
    }

    /// Returns the map of packets that repeat earlier ones of Opus (RFC 2198).
    static func redundancy(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "red", clockRate: 48_000, channels: 2)
    }

    var isFlexFEC: Bool { matches("flexfec-03", clockRate: 90_000) }
    var isRedundancy: Bool { matches("red", clockRate: 48_000) && channels == 2 }
    var isH264: Bool { matches("H264", clockRate: 90_000) }
    var isOpus: Bool { matches("opus", clockRate: 48_000) && channels == 2 }
}

extension MediaDescription {
    /// Returns the addresses at which the described side receives RTP and RTCP. An address is nil if no datagram can be
    /// sent to it: a host name, an unspecified address, or port 0 or 9, which mean "none yet".
    func remoteAddresses(
        in session: SessionDescription, rtcpMux: Bool
    ) throws(SDPError) -> (rtp: TransportAddress?, rtcp: TransportAddress?) {
        func usable(_ connection: ConnectionAddress?, _ port: UInt16) -> TransportAddress? {
            guard port != 0, port != 9, let address = connection?.transportAddress(port: port),
                !address.isUnspecified
            else { return nil }
            return address.unmapped
        }
        let connection = connection ?? session.connection
        let rtp = usable(connection, port)
        if rtcpMux { return (rtp, rtp) }
        if let (rtcpPort, rtcpConnection) = try rtcpAddress() {
            return (rtp, usable(rtcpConnection ?? connection, rtcpPort))
        }
        return (rtp, rtp == nil ? nil : usable(connection, port == .max ? 0 : port + 1))
    }
}

extension RandomNumberGenerator {
    /// Returns a synchronization source that is not in `taken` (RFC 3550, section 8).
    mutating func ssrc(besides taken: some Collection<UInt32>) -> UInt32 {
        var ssrc: UInt32
        repeat { ssrc = next() } while ssrc == 0 || taken.contains(ssrc)
        return ssrc
    }

    /// Returns a canonical name of 96 random bits (RFC 7022, 4.2).
    mutating func canonicalName() -> String {
        Base64.encode((0..<12).map { _ in next() })
    }
}

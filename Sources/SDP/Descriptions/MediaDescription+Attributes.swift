/// The attributes that we understand. A property or method with a value throws if the attribute is malformed.
extension MediaDescription {
    /// Returns true if there is an attribute of this name, with or without a value.
    public func hasAttribute(_ name: String) -> Bool { attributes.contains { $0.name == name } }

    /// Returns the value of the first attribute of this name that has one.
    public func attribute(_ name: String) -> SDPAttribute? {
        attributes.first { $0.name == name && $0.value != nil }
    }

    private func attributes(_ name: String) -> [SDPAttribute] { attributes.filter { $0.name == name } }

    /// The identification tag (RFC 5888).
    public var mid: String? {
        attribute("mid")?.value.flatMap { $0.isEmpty || $0.contains(" ") ? nil : $0 }
    }

    /// Returns the payload types of the `m=` line.
    public func payloadTypes() throws(SDPError) -> [UInt8] {
        var types: [UInt8] = []
        for format in formats {
            guard let type = UInt8(payloadType: format) else {
                throw .malformed(line: line, reason: "payload type '\(format.excerpt)' is not a number from 0 to 127")
            }
            types.append(type)
        }
        return types
    }

    /// Returns the `a=rtpmap` of each payload type; the first one if there are several.
    public func rtpMaps() throws(SDPError) -> [UInt8: RTPMap] {
        var maps: [UInt8: RTPMap] = [:]
        for attribute in attributes("rtpmap") {
            let map = try RTPMap(parsing: attribute)
            if maps[map.payloadType] == nil { maps[map.payloadType] = map }
        }
        return maps
    }

    /// Returns the `a=fmtp` of a payload type; empty if there is none.
    public func formatParameters(payloadType: UInt8) throws(SDPError) -> FormatParameters {
        guard let attribute = formatAttributes()[payloadType] else {
            return FormatParameters(payloadType: payloadType, values: [:], line: line)
        }
        return try FormatParameters(parsing: attribute)
    }

    /// Returns the first `a=fmtp` of each payload type, not yet parsed: parameters of other codecs may have another
    /// form.
    func formatAttributes() -> [UInt8: SDPAttribute] {
        var found: [UInt8: SDPAttribute] = [:]
        for attribute in attributes("fmtp") {
            let head = Substring(attribute.value ?? "").utf8.prefix { $0 != UInt8(ascii: " ") }
            guard let payloadType = UInt8(payloadType: Substring(head)), found[payloadType] == nil else { continue }
            found[payloadType] = attribute
        }
        return found
    }

    /// Returns all `a=rtcp-fb`.
    public func rtcpFeedback() throws(SDPError) -> [RTCPFeedbackAttribute] {
        var feedback: [RTCPFeedbackAttribute] = []
        for attribute in attributes("rtcp-fb") { feedback.append(try RTCPFeedbackAttribute(parsing: attribute)) }
        return feedback
    }

    /// Returns all `a=extmap`.
    public func extensionMaps() throws(SDPError) -> [ExtensionMap] {
        try ExtensionMap.all(in: attributes)
    }

    /// Returns all `a=crypto`, in the order of preference. No two may have the same tag (RFC 4568, 5.1.1).
    public func cryptoAttributes() throws(SDPError) -> [CryptoAttribute] {
        var cryptos: [CryptoAttribute] = []
        var tags: Set<UInt32> = []
        for attribute in attributes("crypto") {
            guard cryptos.count < SessionDescription.maximumCryptoCount else {
                throw attribute.error("more than \(SessionDescription.maximumCryptoCount) a=crypto")
            }
            let crypto = try CryptoAttribute(parsing: attribute)
            guard tags.insert(crypto.tag).inserted else {
                throw attribute.error("crypto tag \(crypto.tag) is there twice")
            }
            cryptos.append(crypto)
        }
        return cryptos
    }

    /// The media's own direction; nil if it has none and the session's direction applies.
    public var ownDirection: MediaDirection? { MediaDirection(attributes) }

    /// True if RTP and RTCP may share a port (RFC 5761).
    public var rtcpMux: Bool { hasAttribute("rtcp-mux") }

    /// True if the describing side understands reduced-size RTCP (RFC 5506).
    public var reducedSizeRTCP: Bool { hasAttribute("rtcp-rsize") }

    /// True if the port is 0 on purpose until the media is bundled (RFC 8843, section 6).
    public var bundleOnly: Bool { hasAttribute("bundle-only") }

    /// Returns the port of RTCP from `a=rtcp` and, if it differs from the media's, its address (RFC 3605); nil if there
    /// is none.
    public func rtcpAddress() throws(SDPError) -> (port: UInt16, connection: ConnectionAddress?)? {
        guard let attribute = attribute("rtcp") else { return nil }
        let words = Substring(attribute.value ?? "").words
        guard words.count == 1 || words.count == 4, words[0].isDecimal, let port = UInt16(words[0]) else {
            throw attribute.error("expected 'a=rtcp:<port>' or 'a=rtcp:<port> IN IP4 <address>'")
        }
        guard words.count == 4 else { return (port, nil) }
        return (port, ConnectionAddress(addressType: String(words[2]), host: String(words[3])))
    }

    /// Returns the announced sources (RFC 5576), in order, at most 64, without the sources that only repair others.
    public func ssrcs() throws(SDPError) -> [UInt32] {
        let limit = 64
        var found: [UInt32] = []
        for attribute in attributes("ssrc") {
            let head = Substring(attribute.value ?? "").words.first ?? ""
            guard head.isDecimal, let ssrc = UInt32(head) else {
                throw attribute.error("'\(head.excerpt)' is not an SSRC")
            }
            if found.count < limit, !found.contains(ssrc) { found.append(ssrc) }
        }
        let (retransmissions, flexFEC) = (retransmissionSSRCs(), flexFECSSRCs())
        found.removeAll { retransmissions[$0] != nil || flexFEC[$0] != nil }
        return found
    }

    /// Returns the sources that only retransmit, each with the source that it repairs (`a=ssrc-group:FID`, RFC 5576,
    /// 4.2), at most 64.
    func retransmissionSSRCs() -> [UInt32: UInt32] { repairSSRCs(semantics: "FID") }

    /// Returns the sources of forward error correction, each with the source that it protects (`a=ssrc-group:FEC-FR`,
    /// RFC 5956, 4.3), at most 64.
    func flexFECSSRCs() -> [UInt32: UInt32] { repairSSRCs(semantics: "FEC-FR") }

    private func repairSSRCs(semantics: String) -> [UInt32: UInt32] {
        let limit = 64
        var found: [UInt32: UInt32] = [:]
        for attribute in attributes("ssrc-group").prefix(limit) {
            let words = Substring(attribute.value ?? "").words
            guard words.count == 3, words[0] == semantics, let repaired = UInt32(words[1]), let own = UInt32(words[2]),
                own != repaired
            else { continue }
            found[own] = repaired
        }
        return found
    }

    /// Returns the payload type for retransmissions of another payload type, in streams of their own (RFC 4588, section
    /// 8.6).
    func retransmissionPayloadType(of map: RTPMap) throws(SDPError) -> UInt8? {
        let maps = try rtpMaps()
        let attributes = formatAttributes()
        for payloadType in try payloadTypes() {
            guard let candidate = maps[payloadType], candidate.matches("rtx", clockRate: map.clockRate),
                let attribute = attributes[payloadType],
                try FormatParameters(parsing: attribute).integer("apt", in: 0...127) == Int(map.payloadType)
            else { continue }
            return payloadType
        }
        return nil
    }

    /// Returns the payload type of forward error correction in a stream of its own, in the form that browsers use
    /// (draft-ietf-payload-flexible-fec-scheme-03, section 5.1).
    func flexFECPayloadType() throws(SDPError) -> UInt8? {
        let maps = try rtpMaps()
        return try payloadTypes().first { maps[$0]?.isFlexFEC ?? false }
    }

    /// Returns the payload type of packets that repeat earlier ones of the given payload type, and of no other (RFC
    /// 2198, section 5: `a=fmtp:63 111/111`).
    func redundancyPayloadType(of map: RTPMap) throws(SDPError) -> UInt8? {
        let maps = try rtpMaps()
        for payloadType in try payloadTypes() {
            guard let candidate = maps[payloadType], candidate.isRedundancy,
                let attribute = attributes("fmtp").first(where: {
                    Substring($0.value ?? "").words.first == Substring("\(payloadType)")
                })
            else { continue }
            let encodings = Substring(attribute.value ?? "").words.dropFirst().joined().split(separator: "/")
            guard encodings.count > 1, encodings.allSatisfy({ UInt8($0) == map.payloadType }) else { continue }
            return payloadType
        }
        return nil
    }

    /// The content of the media, if `a=content` states it (RFC 4796).
    var content: NegotiatedMedia.Content? {
        guard let words = attribute("content")?.value?.split(separator: ",") else { return nil }
        if words.contains("slides") { return .screenShare }
        return words.contains("main") ? .main : nil
    }

    /// Returns `a=ptime` or `a=maxptime`, within 1 ms to 1 s; nil if there is none.
    public func packetTime(_ name: String) throws(SDPError) -> Duration? {
        guard let attribute = attribute(name), let text = attribute.value else { return nil }
        // Some senders write fractions of a millisecond. No packet of ours has such a duration.
        guard let whole = text.split(separator: ".").first, whole.isDecimal, let milliseconds = Int(whole),
            (1...1000).contains(milliseconds)
        else { throw attribute.error("'\(text.excerpt)' is not a number of milliseconds from 1 to 1000") }
        return .milliseconds(milliseconds)
    }
}

extension SessionDescription {
    /// Returns the direction of a media description: its own, the session's, or sendrecv (RFC 8866, 6.7).
    public func direction(of description: MediaDescription) -> MediaDirection {
        description.ownDirection ?? MediaDirection(attributes) ?? .sendAndReceive
    }

    /// Returns the header extensions of a media description: its own and the session's (RFC 8285, section 8).
    public func extensionMaps(of description: MediaDescription) throws(SDPError) -> [ExtensionMap] {
        try description.extensionMaps() + extensionMaps()
    }

    /// Returns the header extensions that the session states for all media descriptions.
    func extensionMaps() throws(SDPError) -> [ExtensionMap] {
        try ExtensionMap.all(in: attributes)
    }
}

extension ExtensionMap {
    static func all(in attributes: [SDPAttribute]) throws(SDPError) -> [ExtensionMap] {
        var maps: [ExtensionMap] = []
        for attribute in attributes where attribute.name == "extmap" {
            guard maps.count < SessionDescription.maximumExtensionCount else {
                throw attribute.error("more than \(SessionDescription.maximumExtensionCount) a=extmap in one place")
            }
            maps.append(try ExtensionMap(parsing: attribute))
        }
        return maps
    }
}

extension MediaDirection {
    /// Finds the direction that one of the attributes states; nil if there is none.
    init?(_ attributes: [SDPAttribute]) {
        for attribute in attributes where attribute.value == nil {
            guard let direction = MediaDirection(rawValue: attribute.name) else { continue }
            self = direction
            return
        }
        return nil
    }
}

extension SessionDescription {
    /// Parses a session description (RFC 8866). Lines may end with CRLF or LF, and the last one with neither.
    ///
    /// Attributes are kept even if unknown. A type letter that the RFC does not define is an error, as its section 5
    /// demands.
    public init(parsing text: String) throws(SDPError) {
        guard text.utf8.count <= Self.maximumSize else { throw .tooLarge(byteCount: text.utf8.count) }
        var lines = try Self.lines(of: text)[...]
        var hasTiming = false

        guard let version = lines.popFirst(), version.type == "v" else {
            throw .malformed(line: 1, reason: "a session description starts with 'v=0'")
        }
        guard version.value == "0" else {
            throw .malformed(line: version.number, reason: "version '\(version.value.excerpt)' is unknown, 0 expected")
        }
        guard let originLine = lines.popFirst(), originLine.type == "o" else {
            throw .malformed(line: 2, reason: "'o=' is missing after 'v='")
        }
        self.init(origin: try Origin(parsing: originLine))
        guard let nameLine = lines.popFirst(), nameLine.type == "s" else {
            throw .malformed(line: 3, reason: "'s=' is missing after 'o='")
        }
        name = String(nameLine.value)

        for line in lines {
            if line.type == "m" {
                guard media.count < Self.maximumMediaCount else {
                    throw .malformed(line: line.number, reason: "more than \(Self.maximumMediaCount) 'm=' lines")
                }
                media.append(try MediaDescription(parsing: line))
            } else if media.isEmpty {
                if line.type == "t", !hasTiming {
                    timing = String(line.value)
                    hasTiming = true
                }
                try readSessionLine(line)
            } else {
                try media[media.count - 1].readLine(line)
            }
        }
        for description in media where description.connection == nil && connection == nil && description.port != 0 {
            throw .malformed(line: description.line, reason: "neither this media nor the session has a 'c=' line")
        }
    }

    private mutating func readSessionLine(_ line: SDPLine) throws(SDPError) {
        switch line.type {
        case "c":
            guard connection == nil else { throw line.error("the session has a 'c=' line already") }
            connection = try ConnectionAddress(parsing: line)
        case "b": bandwidths.append(try BandwidthLimit(parsing: line))
        case "a": try attributes.append(parsing: line)
        // Information, URI, e-mail, phone, further times, repetitions, time zones and the obsolete key.
        case "i", "u", "e", "p", "t", "r", "z", "k": break
        case "v", "o", "s": throw line.error("a second '\(line.type)=' line")
        default: throw line.error("unknown type '\(line.type)='")
        }
    }

    /// Returns the lines of a text within the limits, each with its type letter.
    static func lines(of text: String) throws(SDPError) -> [SDPLine] {
        var lines: [SDPLine] = []
        var blank: Int?
        var number = 0
        // Split as bytes: to Swift, CRLF is one character.
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            guard !content.isEmpty else {
                blank = blank ?? number
                continue
            }
            if let blank { throw .malformed(line: blank, reason: "the line is empty") }
            guard number <= maximumLineCount else {
                throw .malformed(line: number, reason: "more than \(maximumLineCount) lines")
            }
            guard content.count <= maximumLineLength else {
                throw .malformed(line: number, reason: "longer than \(maximumLineLength) bytes")
            }
            guard !content.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") }) else {
                throw .malformed(line: number, reason: "a NUL or CR within the line")
            }
            lines.append(try SDPLine(Substring(content), number: number))
        }
        return lines
    }
}

extension SessionDescription.Origin {
    init(parsing line: SDPLine) throws(SDPError) {
        let words = line.words
        guard words.count == 6, words[3] == "IN" else {
            throw line.error(
                "expected 'o=<username> <session id> <version> IN <address type> <address>'")
        }
        guard words[4] == "IP4" || words[4] == "IP6" else {
            throw line.error("address type '\(words[4].excerpt)' is neither IP4 nor IP6")
        }
        self.init(
            username: String(words[0]), sessionID: String(words[1]), sessionVersion: String(words[2]),
            addressType: String(words[4]), address: String(words[5]))
    }
}

extension ConnectionAddress {
    init(parsing line: SDPLine) throws(SDPError) {
        let words = line.words
        guard words.count == 3, words[0] == "IN", words[1] == "IP4" || words[1] == "IP6" else {
            throw line.error("expected 'c=IN IP4 <address>' or 'c=IN IP6 <address>'")
        }
        // A multicast address may carry its TTL and a count of addresses.
        let host = words[2].divided(at: "/")?.0 ?? words[2]
        guard !host.isEmpty else { throw line.error("the address is empty") }
        self.init(addressType: String(words[1]), host: String(host))
    }
}

extension BandwidthLimit {
    init(parsing line: SDPLine) throws(SDPError) {
        guard let (type, text) = line.value.divided(at: ":"), !type.isEmpty else {
            throw line.error("expected 'b=<type>:<number>'")
        }
        guard text.isDecimal, let value = Int64(text) else {
            throw line.error("bandwidth '\(text.excerpt)' is not a number")
        }
        self.init(type: String(type), value: value)
    }
}

extension [SDPAttribute] {
    fileprivate mutating func append(parsing line: SDPLine) throws(SDPError) {
        guard count < SessionDescription.maximumAttributeCount else {
            throw line.error("more than \(SessionDescription.maximumAttributeCount) attributes in one place")
        }
        append(SDPAttribute(parsing: line))
    }
}

extension SDPAttribute {
    init(parsing line: SDPLine) {
        if let (name, value) = line.value.divided(at: ":") {
            self.init(String(name), String(value), line: line.number)
        } else {
            self.init(String(line.value), line: line.number)
        }
    }
}

extension MediaDescription {
    private static let maximumFormatCount = 128

    init(parsing line: SDPLine) throws(SDPError) {
        let words = line.words
        guard words.count >= 4 else {
            throw line.error("expected 'm=<media> <port> <transport> <format> ...'")
        }
        // A port may carry a count of consecutive ports, which is for layered multicast.
        let portText = words[1].divided(at: "/")?.0 ?? words[1]
        guard portText.isDecimal, let port = UInt16(portText) else {
            throw line.error("port '\(words[1].excerpt)' is not a number from 0 to 65535")
        }
        guard words.count - 3 <= Self.maximumFormatCount else {
            throw line.error("more than \(Self.maximumFormatCount) formats")
        }
        self.init(
            kind: Kind(String(words[0])), port: port, transport: MediaTransport(String(words[2])),
            formats: words[3...].map { String($0) }, line: line.number)
    }

    mutating func readLine(_ line: SDPLine) throws(SDPError) {
        switch line.type {
        // A media description may have several `c=` lines, for layered multicast. The first one counts.
        case "c":
            let parsed = try ConnectionAddress(parsing: line)
            connection = connection ?? parsed
        case "b": bandwidths.append(try BandwidthLimit(parsing: line))
        case "a": try attributes.append(parsing: line)
        case "i", "k": break
        case "v", "o", "s", "u", "e", "p", "t", "r", "z":
            throw line.error("'\(line.type)=' belongs before the first 'm=' line")
        default: throw line.error("unknown type '\(line.type)='")
        }
    }
}

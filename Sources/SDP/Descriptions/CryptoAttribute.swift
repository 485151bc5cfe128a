public import SecureTransport

/// An SRTP key for the packets that the describing side sends: `a=crypto:1 AEAD_AES_128_GCM inline:<key and salt>|2^31`
/// (RFC 4568, 9.1 and 9.2).
public struct CryptoAttribute: Hashable, Sendable {
    /// A key of the method `inline`.
    public struct InlineKey: Hashable, Sendable {
        /// The master key and the salt in base 64.
        public var keyAndSalt: String
        /// The most packets that the key protects; nil for the default of the suite. The limit binds the side that
        /// sends with the key.
        public var lifetime: UInt64?
        /// The name of the master key in packets; nil if packets carry none.
        public var masterKeyIdentifier: MasterKeyIdentifier?
    }

    /// The name of a master key (MKI), and its length in packets, in bytes.
    public struct MasterKeyIdentifier: Hashable, Sendable {
        public var value: String
        public var length: Int
    }

    /// The number with which an answer names the attribute that it accepts.
    public var tag: UInt32
    public var suiteName: String
    /// The keys; empty when the attribute uses another method than `inline`.
    public var keys: [InlineKey]
    public var sessionParameters: [String]
    /// The attribute's line, from 1; 0 when it was not parsed.
    var line = 0

    public init(tag: UInt32, suiteName: String, keys: [InlineKey], sessionParameters: [String] = []) {
        self.tag = tag
        self.suiteName = suiteName
        self.keys = keys
        self.sessionParameters = sessionParameters
    }

    public init(tag: UInt32, keys: SRTPKeyMaterial) {
        self.init(
            tag: tag, suiteName: keys.profile.cryptoSuiteName, keys: [InlineKey(keyAndSalt: keys.sdesInline)])
    }

    /// Reads the attribute's value. Suites and key methods that we do not support are no error.
    init(parsing attribute: SDPAttribute) throws(SDPError) {
        let words = Substring(attribute.value ?? "").words
        guard words.count >= 3 else {
            throw attribute.error("expected 'a=crypto:<tag> <suite> inline:<key>'")
        }
        guard words[0].isDecimal, words[0].utf8.count <= 9, let tag = UInt32(words[0]) else {
            throw attribute.error("crypto tag '\(words[0].excerpt)' is not a number of at most 9 digits")
        }
        self.init(
            tag: tag, suiteName: String(words[1]), keys: [], sessionParameters: words[3...].map { String($0) })
        line = attribute.line
        guard SRTPProfile(cryptoSuiteName: suiteName) != nil else { return }
        var inline: [InlineKey] = []
        for parameter in words[2].utf8.split(separator: UInt8(ascii: ";")) {
            guard let (method, info) = Substring(parameter).divided(at: ":") else {
                throw attribute.error("expected 'inline:<key>' after the crypto suite")
            }
            guard method == "inline" else { return }
            inline.append(try InlineKey(parsing: info, of: attribute))
        }
        keys = inline
    }

    public var attribute: SDPAttribute {
        let keyTexts = keys.map { "inline:\($0)" }.joined(separator: ";")
        return SDPAttribute("crypto", (["\(tag)", suiteName, keyTexts] + sessionParameters).joined(separator: " "))
    }

    /// The usability of an attribute in an answer (RFC 4568, 5.1.2).
    enum Usability {
        case usable(SRTPKeyMaterial)
        /// A valid attribute that we cannot use. The reason is the text that follows "a=crypto:<tag>" in the message.
        case unusable(reason: String)
    }

    /// Returns the key if we support all that the attribute asks for. A key that does not fit its suite is an error.
    func usability() throws(SDPError) -> Usability {
        guard let profile = SRTPProfile(cryptoSuiteName: suiteName) else {
            return .unusable(reason: "has the unsupported suite '\(suiteName.excerpt)'")
        }
        for parameter in sessionParameters {
            // A parameter that starts with '-' may be ignored; the window size is a hint (RFC 4568, 6.3.6, 6.3.7).
            guard parameter.hasPrefix("-") || parameter.hasPrefix("WSH=") else {
                return .unusable(reason: "has the unsupported session parameter '\(parameter.excerpt)'")
            }
        }
        guard keys.count == 1, let key = keys.first else {
            return .unusable(reason: keys.isEmpty ? "has no inline key" : "has several master keys")
        }
        guard let material = SRTPKeyMaterial(sdesInline: key.keyAndSalt, profile: profile) else {
            throw .malformed(
                line: line,
                reason: "the key is not \(profile.masterKeyMaterialLength) bytes in base 64, as \(suiteName) needs")
        }
        guard key.masterKeyIdentifier == nil else {
            return .unusable(reason: "uses a master key identifier (MKI), which is not supported")
        }
        return .usable(material)
    }
}

extension CryptoAttribute.InlineKey: CustomStringConvertible {
    /// The text after `inline:`.
    public var description: String {
        var text = keyAndSalt
        if let lifetime {
            let isPowerOfTwo = lifetime.nonzeroBitCount == 1 && lifetime > 1
            text += isPowerOfTwo ? "|2^\(lifetime.trailingZeroBitCount)" : "|\(lifetime)"
        }
        if let masterKeyIdentifier { text += "|\(masterKeyIdentifier.value):\(masterKeyIdentifier.length)" }
        return text
    }

    /// Reads the text after `inline:`.
    init(parsing text: Substring, of attribute: SDPAttribute) throws(SDPError) {
        let fields = text.utf8.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard fields.count <= 3, let keyAndSalt = fields.first, !keyAndSalt.isEmpty else {
            throw attribute.error("expected 'inline:<key>[|<lifetime>][|<MKI>:<length>]'")
        }
        self.init(keyAndSalt: String(keyAndSalt))
        var rest = fields.dropFirst()
        if let field = rest.first, !field.utf8.contains(UInt8(ascii: ":")) {
            guard let lifetime = Self.lifetime(field) else {
                throw attribute.error("key lifetime '\(field.excerpt)' is not a number from 1 to 2^48")
            }
            self.lifetime = lifetime
            rest = rest.dropFirst()
        }
        guard let field = rest.popFirst() else { return }
        guard rest.isEmpty, let (value, lengthText) = field.divided(at: ":"), value.isDecimal, lengthText.isDecimal,
            let length = Int(lengthText), (1...128).contains(length)
        else { throw attribute.error("'\(field.excerpt)' is not '<MKI>:<length from 1 to 128>'") }
        masterKeyIdentifier = CryptoAttribute.MasterKeyIdentifier(value: String(value), length: length)
    }

    /// Reads `2^20` or `1048576`, at most 2^48 (RFC 4568, 6.1).
    private static func lifetime(_ text: Substring) -> UInt64? {
        let limit: UInt64 = 1 << 48
        if text.hasPrefix("2^") {
            let exponent = text.dropFirst(2)
            guard exponent.isDecimal, let bits = UInt64(exponent), bits <= 48 else { return nil }
            return 1 << bits
        }
        guard text.isDecimal, let value = UInt64(text), (1...limit).contains(value) else { return nil }
        return value
    }
}

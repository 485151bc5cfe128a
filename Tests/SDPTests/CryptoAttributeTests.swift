import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct CryptoAttributeTests {
    private func parse(_ value: String) throws(SDPError) -> CryptoAttribute {
        try CryptoAttribute(parsing: SDPAttribute("crypto", value, line: 7))
    }

    private func reason(_ value: String) throws -> String? {
        switch try parse(value).usability() {
        case .usable: nil
        case .unusable(let reason): reason
        }
    }

    private static let suite = "AES_CM_128_HMAC_SHA1_80"
    private static let key = Offers.counterModeKey

    @Test("the examples of RFC 4568 are read with lifetime and master key identifier")
    func examples() throws {
        let first = try parse("1 \(Self.suite) inline:\(Self.key)|2^20|1:4 FEC_ORDER=FEC_SRTP")
        #expect(first.tag == 1)
        #expect(first.suiteName == Self.suite)
        #expect(
            first.keys == [
                CryptoAttribute.InlineKey(
                    keyAndSalt: Self.key, lifetime: 1 << 20, masterKeyIdentifier: .init(value: "1", length: 4))
            ])
        #expect(first.sessionParameters == ["FEC_ORDER=FEC_SRTP"])
        let two = try parse("2 \(Self.suite) inline:\(Self.key)|2^20|1:4;inline:\(Offers.otherCounterModeKey)|2^20|2:4")
        #expect(two.keys.count == 2)
        let identifier = try parse("2 \(Self.suite) inline:\(Self.key)|1066:4")
        #expect(identifier.keys.first?.lifetime == nil)
        #expect(identifier.keys.first?.masterKeyIdentifier?.value == "1066")
    }

    @Test(
        "an attribute is written as it was read",
        arguments: [
            "1 AES_CM_128_HMAC_SHA1_80 inline:\(key)", "12 AES_CM_128_HMAC_SHA1_80 inline:\(key)|2^48",
            "3 AES_CM_128_HMAC_SHA1_80 inline:\(key)|1000000|3:1 UNENCRYPTED_SRTP WSH=64",
            "4 AEAD_AES_128_GCM inline:\(Offers.galoisKey)|1:128",
        ])
    func roundTrip(value: String) throws {
        #expect(try parse(value).attribute == SDPAttribute("crypto", value))
    }

    @Test("keys with a lifetime, a window size hint and ignorable parameters are usable")
    func usable() throws {
        #expect(try reason("1 \(Self.suite) inline:\(Self.key)") == nil)
        #expect(try reason("1 \(Self.suite) inline:\(Self.key)|2^31 WSH=128 -FUTURE=1") == nil)
        #expect(try reason("1 AEAD_AES_128_GCM inline:\(Offers.galoisKey)|48") == nil)
    }

    @Test(
        "an unsupported attribute is no error, but cannot be accepted",
        arguments: [
            ("1 AES_256_CM_HMAC_SHA1_80 inline:x", "suite"), ("1 F8_128_HMAC_SHA1_80 other:thing", "suite"),
            ("1 \(suite) inline:\(key)|2^20|1:4", "MKI"), ("1 \(suite) inline:\(key)|1:1", "MKI"),
            ("1 \(suite) inline:\(key);inline:\(key)", "several"), ("1 \(suite) kms:abc", "inline"),
            ("1 \(suite) inline:\(key) UNENCRYPTED_SRTP", "UNENCRYPTED_SRTP"),
            ("1 \(suite) inline:\(key) UNAUTHENTICATED_SRTP", "UNAUTHENTICATED_SRTP"),
            ("1 \(suite) inline:\(key) KDR=1", "KDR"), ("1 \(suite) inline:\(key) FUTURE=1", "FUTURE"),
        ])
    func unusable(value: String, word: String) throws {
        let reason = try #require(try reason(value))
        #expect(reason.contains(word), "\(reason)")
    }

    @Test(
        "a malformed attribute is an error with its line",
        arguments: [
            "", "1", "1 \(suite)", "x \(suite) inline:\(key)", "1234567890 \(suite) inline:\(key)",
            "-1 \(suite) inline:\(key)", "1 \(suite) inline", "1 \(suite) inline:", "1 \(suite) inline:\(key)|0",
            "1 \(suite) inline:\(key)|2^49", "1 \(suite) inline:\(key)|281474976710657", "1 \(suite) inline:\(key)|x",
            "1 \(suite) inline:\(key)|2^20|1", "1 \(suite) inline:\(key)|1:0", "1 \(suite) inline:\(key)|1:129",
            "1 \(suite) inline:\(key)|2^20|1:4|x", "1 \(suite) inline:\(key)|1:4|2^20", "1 \(suite) inline:\(key)|",
            "1 \(suite) inline:short", "1 \(suite) inline:\(key)AAAA", "1 \(suite) inline:***\(key.dropFirst(3))",
            "1 AEAD_AES_128_GCM inline:\(key)",
        ])
    func malformed(value: String) throws {
        let error = #expect(throws: SDPError.self) { _ = try self.reason(value) }
        #expect(error?.line == 7)
    }
}

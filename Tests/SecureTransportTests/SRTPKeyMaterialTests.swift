import MediaCore
import Testing

@testable import SecureTransport

@Suite struct SRTPKeyMaterialTests {
    @Test(
        "base 64 has the test vectors of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decode(encoded.filter { $0 != "=" }) == Array(plain.utf8))
    }

    @Test("every byte survives base 64")
    func base64Bytes() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    @Test(
        "text that is not base 64 is refused",
        arguments: ["A", "AA=", "AAA==", "A===", "=", "AA A", "AAA-", "AB==", "AAAAA"])
    func base64Refuses(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("the key of RFC 4568's example is read and written back")
    func exampleKey() throws {
        let text = "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"
        let keys = try #require(SRTPKeyMaterial(sdesInline: text, profile: .aesCM128HMACSHA1_80))
        #expect(keys.masterKeyAndSalt.count == 30)
        #expect(keys.sdesInline == text)
        #expect(SRTPKeyMaterial(sdesInline: text, profile: .aeadAES128GCM) == nil)
    }

    @Test("a key of the wrong length is refused", arguments: SRTPProfile.allCases)
    func wrongLength(profile: SRTPProfile) {
        for length in 0...64 {
            let bytes = [UInt8](repeating: 7, count: length)
            let fits = length == profile.masterKeyMaterialLength
            #expect((SRTPKeyMaterial(profile: profile, masterKeyAndSalt: bytes) != nil) == fits)
            #expect((SRTPKeyMaterial(sdesInline: Base64.encode(bytes), profile: profile) != nil) == fits)
        }
    }

    @Test("new keys differ, have the suite's length, and follow from the generator", arguments: SRTPProfile.allCases)
    func newKeys(profile: SRTPProfile) {
        var generator = SeededGenerator(seed: 1)
        let first = SRTPKeyMaterial(profile: profile, using: &generator)
        let second = SRTPKeyMaterial(profile: profile, using: &generator)
        #expect(first != second)
        #expect(first.masterKeyAndSalt.count == profile.masterKeyMaterialLength)
        #expect(SRTPKeyMaterial(sdesInline: first.sdesInline, profile: profile) == first)
        var again = SeededGenerator(seed: 1)
        #expect(SRTPKeyMaterial(profile: profile, using: &again) == first)
    }

    @Test("a description of keys does not tell them")
    func description() {
        var generator = SeededGenerator(seed: 2)
        let keys = SRTPKeyMaterial(profile: .aeadAES128GCM, using: &generator)
        #expect("\(keys)" == "SRTPKeyMaterial(AEAD_AES_128_GCM)")
    }
}

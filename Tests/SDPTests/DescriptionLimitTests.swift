import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite("Limits on session descriptions")
struct DescriptionLimitTests {
    private let head = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
    private let media = "m=audio 9 RTP/SAVP 96\r\n"

    private func repeated(_ count: Int, _ line: (Int) -> String) -> String { (0..<count).map(line).joined() }

    @Test("more attributes than the limit are refused, of the session and of each media description")
    func attributes() throws {
        let limit = SessionDescription.maximumAttributeCount
        for start in [head, head + media] {
            _ = try SessionDescription(parsing: start + repeated(limit) { _ in "a=x\r\n" })
            #expect(throws: SDPError.self) {
                try SessionDescription(parsing: start + repeated(limit + 1) { _ in "a=x\r\n" })
            }
        }
    }

    @Test("more header extensions or keys than the limit are refused")
    func extensionsAndKeys() throws {
        func description(extensions: Int, keys: Int) throws -> MediaDescription {
            try SessionDescription(
                parsing: head + media + repeated(extensions) { "a=extmap:\($0 % 14 + 1) urn:x\($0)\r\n" }
                    + repeated(keys) { "a=crypto:\($0 + 1) UNKNOWN inline:x\r\n" }
            ).media[0]
        }
        let full = try description(
            extensions: SessionDescription.maximumExtensionCount, keys: SessionDescription.maximumCryptoCount)
        #expect(try full.extensionMaps().count == SessionDescription.maximumExtensionCount)
        #expect(try full.cryptoAttributes().count == SessionDescription.maximumCryptoCount)
        let over = try description(
            extensions: SessionDescription.maximumExtensionCount + 1, keys: SessionDescription.maximumCryptoCount + 1)
        #expect(throws: SDPError.self) { try over.extensionMaps() }
        #expect(throws: SDPError.self) { try over.cryptoAttributes() }
    }

    @Test("the header extensions of a session are accepted for every media description")
    func sessionExtensions() throws {
        let uri = HeaderExtension.audioLevel.uri
        var generator = SeededGenerator(seed: 1)
        let key = SRTPKeyMaterial(profile: .aesCM128HMACSHA1_80, using: &generator)
        let text =
            head + "a=extmap:3 \(uri)\r\n" + media + "a=rtpmap:96 opus/48000/2\r\n"
            + CryptoAttribute(tag: 1, keys: key).attribute.description + "\r\n"
        let (answer, _) = try OfferAnswer.answer(
            offer: SessionDescription(parsing: text), policy: AnswerPolicy(publicAddress: Answered.relay),
            using: &generator)
        #expect(try answer.media[0].extensionMaps().map(\.uri) == [uri])
    }
}

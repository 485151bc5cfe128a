import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct TransportAttributeTests {
    private static let digest = (0..<32).map { _ in "AB" }.joined(separator: ":")
    private static let transport = [
        "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuv", "a=fingerprint:sha-256 \(digest)",
        "a=setup:actpass", "a=rtcp-mux",
    ]

    /// One video stream over DTLS whose transport these lines describe, after the 8 lines before them.
    private static func offer(_ lines: [String]) -> String {
        Offers.video(([Offers.h264, "a=mid:0"] + lines).joined(separator: "\r\n"), transport: "UDP/TLS/RTP/SAVPF")
    }

    private static func offer(replacing name: String, with lines: String...) -> String {
        offer(transport.filter { !$0.hasPrefix("a=\(name)") } + lines)
    }

    @Test(
        "an offer that lacks a part of its transport is refused with the reason",
        arguments: [
            ("ice-ufrag", "a=x", "a=ice-ufrag and a=ice-pwd are missing"),
            ("ice-pwd", "a=x", "a=ice-ufrag and a=ice-pwd are missing"),
            ("fingerprint", "a=x", "a=fingerprint is missing"),
            ("fingerprint", "a=fingerprint:sha-1 AB:CD", "no a=fingerprint is of sha-256"),
            ("setup", "a=x", "a=setup is missing"), ("setup", "a=setup:holdconn", "asks for no DTLS handshake"),
            ("rtcp-mux", "a=x", "a=rtcp-mux is missing"),
        ])
    func missing(name: String, replacement: String, reason: String) throws {
        #expect(throws: Never.self) { try Answered.overDTLS(Self.offer(Self.transport)) }
        let error = try #require(
            Answered.error(Self.offer(replacing: name, with: replacement), policy: .overDTLS))
        guard case .unacceptable(let line, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(line == 6 && error.description.contains(reason), "\(error)")
    }

    @Test(
        "a malformed attribute of the transport is an error with its line",
        arguments: [
            ("ice-ufrag", "a=ice-ufrag:abc"), ("ice-ufrag", "a=ice-ufrag:ab cd"), ("ice-pwd", "a=ice-pwd:short"),
            ("ice-pwd", "a=ice-pwd:" + String(repeating: "x", count: 257)),
            ("fingerprint", "a=fingerprint:sha-256 AB:CD"), ("fingerprint", "a=fingerprint:sha-256"),
            ("fingerprint", "a=fingerprint:SHA-256 \(digest):AB"), ("setup", "a=setup:whatever"),
        ])
    func malformed(name: String, replacement: String) throws {
        let error = try #require(
            Answered.error(Self.offer(replacing: name, with: replacement), policy: .overDTLS))
        guard case .malformed(let line, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(line == 8 + Self.transport.count)
    }

    @Test("of several fingerprints those of SHA-256 count, in either case, those of the media before the session's")
    func fingerprints() throws {
        let text = Self.offer(
            replacing: "fingerprint", with: "a=fingerprint:sha-1 00:01",
            "a=fingerprint:SHA-256 \(Self.digest.lowercased())", "a=fingerprint:sha-256 \(Self.digest)",
            "a=fingerprint:sha-256 \(Self.digest.replacing("AB", with: "CD"))"
        ).replacing("m=video", with: "a=fingerprint:sha-256 \(Self.digest.replacing("AB", with: "EF"))\r\nm=video")
        let transport = try #require(try Answered.overDTLS(text).session.transport)
        #expect(transport.remoteFingerprints.map { $0.digest.first } == [0xAB, 0xCD])
    }

    @Test("a session's attributes hold for media that have none of their own")
    func sessionLevel() throws {
        let text = Self.offer(["a=rtcp-mux"])
            .replacing("m=video", with: Self.transport.dropLast().joined(separator: "\r\n") + "\r\nm=video")
        let transport = try #require(try Answered.overDTLS(text).session.transport)
        #expect(transport.remoteCredentials.usernameFragment == "abcd" && transport.dtlsRole == .server)
    }

    @Test("two ICE-lite sides would never meet: such an offer is refused")
    func bothLite() throws {
        let text = Self.offer(Self.transport).replacing("m=video", with: "a=ice-lite\r\nm=video")
        #expect(Answered.error(text, policy: .overDTLS)?.description.contains("ICE-lite") == true)
    }

    @Test("an offer that leaves the handshake to us makes us the client", arguments: ["active", "passive", "actpass"])
    func roles(setup: String) throws {
        let answered = try Answered.overDTLS(Self.offer(replacing: "setup", with: "a=setup:\(setup)"))
        #expect(answered.session.transport?.dtlsRole == (setup == "passive" ? .client : .server))
        #expect(answered.answer.media[0].values("setup") == [setup == "passive" ? "active" : "passive"])
    }

    @Test("if DTLS is not possible, keys in other media are used")
    func fallsBackToKeys() throws {
        let text =
            Self.offer(replacing: "fingerprint") + "m=video 5004 RTP/SAVPF 96\r\n\(Offers.h264)\r\n\(Offers.crypto)\r\n"
        let answered = try Answered.overDTLS(text)
        #expect(answered.answer.media.map(\.port) == [0, 7000] && answered.session.transport == nil)
    }
}

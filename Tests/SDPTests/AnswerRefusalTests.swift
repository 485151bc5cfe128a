import Testing

@testable import SDP

/// Offers, and media descriptions of offers, that are not accepted.
@Suite struct AnswerRefusalTests {
    @Test("unsupported media is rejected in place, with port 0")
    func rejectedInPlace() throws {
        let offer =
            (Offers.session + [
                "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=video 5000 UDP/TLS/RTP/SAVPF 96", Offers.h264,
                "a=fingerprint:sha-256 00", "m=video 5002 RTP/AVP 96", Offers.h264, "m=video 5004 RTP/SAVPF 96",
                Offers.h264, Offers.crypto, "m=video 0 RTP/SAVPF 96", Offers.h264, Offers.crypto,
                "m=audio 5008 RTP/SAVPF 0", "a=rtpmap:0 PCMU/8000", Offers.crypto, "m=audio 0 RTP/SAVPF 111",
                "a=rtpmap:111 opus/48000/2", Offers.crypto, "m=audio 5010 RTP/SAVPF 111", "a=rtpmap:111 opus/48000/2",
                "m=audio 5012 TCP/RTP/AVP 111", "m=audio 5014 RTP/SAVPF 97", "a=rtpmap:97 opus/48000/1", Offers.crypto,
            ]).joined(separator: "\r\n")
        let answered = try Answered(offer)
        let offered = try SessionDescription(parsing: offer)
        #expect(answered.answer.media.map(\.port) == [0, 0, 0, 7000, 0, 0, 0, 0, 0, 0])
        #expect(answered.answer.media.map(\.transport) == offered.media.map(\.transport))
        #expect(answered.session.media.map(\.index) == [3])
        #expect(answered.answer.media.allSatisfy { !$0.formats.isEmpty })
        #expect(try SessionDescription(parsing: answered.answer.encode()) == answered.answer)
    }

    @Test("of several audio streams the first that can be accepted is")
    func firstAcceptable() throws {
        let opus = "a=rtpmap:111 opus/48000/2"
        let offer =
            (Offers.session + [
                "m=audio 5008 RTP/SAVPF 0", Offers.crypto, "m=audio 5009 RTP/SAVPF 111", opus,
                "m=audio 5010 RTP/SAVPF 111", opus, Offers.crypto, "m=audio 5011 RTP/SAVPF 111", opus, Offers.crypto,
            ]).joined(separator: "\n")
        let answered = try Answered(offer)
        #expect(answered.session.audio?.index == 2)
        #expect(answered.answer.media.map(\.port) == [0, 0, 7000, 0])
    }

    @Test(
        "an offer without acceptable media is an error that states the place and the reason",
        arguments: [
            ([Offers.h264], "RTP/SAVPF", 6, "a=crypto"), ([Offers.h264], "RTP/AVP", 6, "not encrypted"),
            ([Offers.h264, Offers.crypto], "UDP/TLS/RTP/SAVPF", 6, "DTLS"),
            ([Offers.h264, Offers.crypto], "UDP", 6, "UDP"),
            (["a=rtpmap:96 VP8/90000", Offers.crypto], "RTP/SAVPF", 6, "H264/90000"),
            ([Offers.h264, "a=fmtp:96 packetization-mode=2", Offers.crypto], "RTP/SAVP", 6, "packetization mode"),
            ([Offers.h264, "\(Offers.crypto)|2^20|1:4"], "RTP/SAVP", 8, "MKI"),
            ([Offers.h264, "\(Offers.crypto) KDR=3"], "RTP/SAVP", 8, "KDR=3"),
            ([Offers.h264, "a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:xyz"], "RTP/SAVP", 8, "suite"),
        ])
    func nothingAcceptable(lines: [String], transport: String, line: Int, reason: String) throws {
        let offer = Offers.video(lines.joined(separator: "\r\n"), transport: transport)
        let error = try #require(Answered.error(offer))
        guard case .unacceptable = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.line == line)
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test("an offer whose video has no H.264 is not acceptable, and the error names the codecs that it has")
    func noH264() throws {
        let offer = Offers.webRTC.replacing("H264/90000", with: "VP8/90000")
        let error = try #require(Answered.error(offer))
        guard case .unacceptable = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description.contains("H.264") && error.description.contains("VP8"), "\(error)")
        #expect(try Answered(Offers.webRTC).session.video != nil)
    }

    @Test("an offer without media is not acceptable")
    func noMedia() {
        #expect(Answered.error(Offers.session.joined(separator: "\n"))?.line == 1)
    }

    @Test(
        "a malformed attribute of a stream is an error with its line",
        arguments: [
            "a=rtpmap:97 nothing", "a=fmtp:96 packetization-mode=7", "a=fmtp:96 profile-level-id=xyz",
            "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:short", "a=ssrc:x cname:y", "a=extmap:x urn:y",
            "a=rtcp-fb:x nack",
            "a=rtcp:x", "\(Offers.crypto)\r\n\(Offers.crypto)",
        ])
    func malformedAttribute(line: String) throws {
        let error = try #require(Answered.error(Offers.video(Offers.h264, line, Offers.crypto)))
        guard case .malformed(let number, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect((8...9).contains(number))
    }
}

import Foundation
import MediaCore
import SecureTransport
import Testing

@testable import SDP

@Suite struct RepairNegotiationTests {
    private static func answer(
        _ fixture: String, policy adjust: (inout AnswerPolicy) -> Void = { _ in }
    ) throws -> (text: String, session: NegotiatedSession) {
        var random = SeededGenerator(seed: 2)
        var policy = AnswerPolicy(
            publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000),
            certificateFingerprint: try DTLSCertificate().fingerprint)
        adjust(&policy)
        let (answer, session) = try OfferAnswer.answer(
            offer: Fixture(name: fixture).offer, policy: policy, using: &random)
        return (answer.encode(), session)
    }

    @Test("a browser's offer of forward error correction is accepted, with a source of its own")
    func chromium() throws {
        let (text, session) = try Self.answer("chromium-recvonly")
        let video = try #require(session.media.first { $0.kind == .video })
        let ssrc = try #require(video.localFlexFECSSRC)
        #expect(video.flexFECPayloadType == 49)
        #expect(text.contains("a=rtpmap:49 flexfec-03/90000\r\n"))
        #expect(text.contains("a=fmtp:49 repair-window=10000000\r\n"))
        #expect(text.contains("a=rtcp-fb:49 transport-cc\r\n"))
        #expect(!text.contains("a=rtcp-fb:49 nack"))
        #expect(text.contains("a=ssrc-group:FEC-FR \(video.localSSRC) \(ssrc)\r\n"))
        #expect(text.contains("a=ssrc:\(ssrc) cname:"))
        #expect(Set([ssrc, video.localSSRC, video.localRetransmissionSSRC ?? 0]).count == 3)
    }

    @Test("forward error correction needs an offer and the policy's consent")
    func none() throws {
        for (text, session) in [
            try Self.answer("chromium-sendrecv"), try Self.answer("chromium-recvonly") { $0.acceptsFlexFEC = false },
        ] {
            let video = try #require(session.media.first { $0.kind == .video })
            #expect(video.flexFECPayloadType == nil)
            #expect(video.localFlexFECSSRC == nil)
            #expect(!text.contains("flexfec"))
            #expect(!text.contains("FEC-FR"))
        }
    }

    @Test("redundant audio is accepted after Opus, which is sent by default")
    func redundancy() throws {
        let (text, session) = try Self.answer("chromium-sendrecv")
        #expect(session.audio?.redundancyPayloadType == 63)
        #expect(session.audio?.payloadType == 111)
        #expect(text.contains("UDP/TLS/RTP/SAVPF 111 63\r\n"))
        #expect(text.contains("a=rtpmap:63 red/48000/2\r\n"))
        #expect(text.contains("a=fmtp:63 111/111\r\n"))
        #expect(
            try Self.answer("chromium-sendrecv") { $0.acceptsRedundancy = false }.session.audio?.redundancyPayloadType
                == nil)
    }

    @Test("redundancy for another codec than Opus, or for none, is not accepted")
    func otherRedundancy() throws {
        #expect(try Self.answer("webrtcbin-sendonly-nack-fec").session.audio?.redundancyPayloadType == nil)
        for parameters in ["", "a=fmtp:63 111/0\r\n", "a=fmtp:63 111\r\n", "a=fmtp:63 9/9\r\n"] {
            let offer = try Fixture(name: "chromium-sendrecv").text
                .replacingOccurrences(of: "a=fmtp:63 111/111\r\n", with: parameters)
            var random = SeededGenerator(seed: 2)
            let policy = AnswerPolicy(
                publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000),
                certificateFingerprint: try DTLSCertificate().fingerprint)
            let (_, session) = try OfferAnswer.answer(
                offer: SessionDescription(parsing: offer), policy: policy, using: &random)
            #expect(session.audio?.redundancyPayloadType == nil, "\(parameters)")
        }
    }

    @Test("both sides of an offer of ours agree on repair, and a further offer keeps the sources")
    func own() throws {
        var random = SeededGenerator(seed: 4)
        let parameters = OfferParameters(address: TransportAddress(ipv4: 0x7f00_0001, port: 9000))
        let policy = AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000))
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let (answer, remote) = try OfferAnswer.answer(
            offer: SessionDescription(parsing: offer.encode()), policy: policy, using: &random)
        let local = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: answer.encode()))
        let (ours, theirs) = (try #require(local.media.last), try #require(remote.media.last))
        #expect(ours.flexFECPayloadType == 104)
        #expect(theirs.flexFECPayloadType == 104)
        let ssrc = try #require(ours.localFlexFECSSRC)
        #expect(theirs.remoteFlexFECSSRCs == [ssrc: ours.localSSRC])
        #expect(ours.remoteFlexFECSSRCs == [try #require(theirs.localFlexFECSSRC): theirs.localSSRC])
        #expect(!theirs.remoteSSRCs.contains(ssrc))
        #expect(local.audio?.redundancyPayloadType == 63)
        #expect(remote.audio?.redundancyPayloadType == 63)

        let (again, _) = OfferAnswer.makeOffer(parameters, previous: pending, using: &random)
        let (_, next) = try OfferAnswer.answer(
            offer: SessionDescription(parsing: again.encode()), policy: policy, previous: (answer, remote),
            using: &random)
        #expect(next.media.last?.localFlexFECSSRC == theirs.localFlexFECSSRC)
        #expect(next.media.last?.remoteFlexFECSSRCs == theirs.remoteFlexFECSSRCs)
    }

    @Test("a browser that turns its camera off gets forward error correction from then on")
    func cameraOff() throws {
        var random = SeededGenerator(seed: 6)
        let policy = AnswerPolicy(
            publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000),
            certificateFingerprint: try DTLSCertificate().fingerprint)
        let first = try OfferAnswer.answer(
            offer: Fixture(name: "chromium-session-1-join").offer, policy: policy, using: &random)
        let last = try OfferAnswer.answer(
            offer: Fixture(name: "chromium-session-7-camera-off").offer, policy: policy, previous: first, using: &random
        )
        #expect(first.session.media.last?.flexFECPayloadType == nil)
        let video = try #require(last.session.media.first { $0.kind == .video && $0.content == .main })
        #expect(video.flexFECPayloadType == 49)
        #expect(video.localSSRC == first.session.media.first { $0.kind == .video }?.localSSRC)
    }
}

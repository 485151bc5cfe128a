import MediaCore
import NIOCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct OfferAnswerTests {
    private static let client = TransportAddress(ipv4: 0xC000_0207, port: 6000)

    /// Offer, answer and completion, each through its text.
    private func negotiate(
        _ parameters: OfferParameters, policy: AnswerPolicy = AnswerPolicy(publicAddress: Answered.relay)
    ) throws -> (client: NegotiatedSession, relay: NegotiatedSession) {
        var generator = SeededGenerator(seed: 11)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &generator)
        let received = try SessionDescription(parsing: offer.encode())
        let (answer, relay) = try OfferAnswer.answer(offer: received, policy: policy, using: &generator)
        let client = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: answer.encode()))
        return (client, relay)
    }

    /// Sends a packet each way and checks that it arrives unchanged.
    private func exchange(_ client: NegotiatedMedia, _ relay: NegotiatedMedia) throws {
        for (sender, receiver) in [(client, relay), (relay, client)] {
            let outbound = try SRTPContext(keys: #require(sender.keys).outbound, direction: .outbound)
            let inbound = try SRTPContext(keys: #require(receiver.keys).inbound, direction: .inbound)
            let ssrc = withUnsafeBytes(of: sender.localSSRC.bigEndian, { Array($0) })
            // RTP, and a receiver report without reports.
            let plain = ByteBuffer(bytes: [0x80, 96, 0, 1, 0, 0, 0, 0] + ssrc + Array(repeating: 7, count: 200))
            let plainControl = ByteBuffer(bytes: [0x80, 201, 0, 1] + ssrc)
            var packet = plain
            try outbound.protect(rtp: &packet)
            #expect(packet != plain)
            try inbound.unprotect(rtp: &packet)
            #expect(packet == plain)
            var control = plainControl
            try outbound.protect(rtcp: &control)
            try inbound.unprotect(rtcp: &control)
            #expect(control == plainControl)
        }
    }

    @Test("each side learns how often the other wants feedback, where both say so")
    func feedbackIntervals() throws {
        var policy = AnswerPolicy(publicAddress: Answered.relay)
        policy.feedbackInterval = .milliseconds(40)
        for offered in [nil, Duration.milliseconds(25)] {
            var parameters = OfferParameters(address: Self.client)
            parameters.feedbackInterval = offered
            let (client, relay) = try negotiate(parameters, policy: policy)
            #expect(relay.feedbackInterval == offered)
            #expect(client.feedbackInterval == offered.map { _ in .milliseconds(40) })
        }
    }

    @Test(
        "an interval that is no number of milliseconds from 10 to 250 is ignored",
        arguments: ["9", "251", "-1", "1.5", "", "99999999999999999999"])
    func hostileFeedbackInterval(value: String) throws {
        var description = SessionDescription(
            origin: .init(sessionID: "1", addressType: "IP4", address: "192.0.2.7"))
        description.attributes = [SDPAttribute("x-feedback-interval", value)]
        #expect(description.feedbackInterval == nil)
    }

    @Test("both sides agree and decrypt each other, bundled or not, multiplexed or not, with every suite")
    func agreement() throws {
        for bundle in [true, false] {
            for rtcpMux in [true, false] {
                for profiles: [SRTPProfile] in [[.aeadAES128GCM], [.aesCM128HMACSHA1_80], SRTPProfile.allCases] {
                    let (client, relay) = try negotiate(
                        OfferParameters(
                            address: Self.client, transport: .sdes(profiles), usesFeedbackProfile: bundle,
                            rtcpMux: rtcpMux, bundle: bundle))
                    #expect(client.media.count == 2 && relay.media.count == 2)
                    #expect(client.isBundled == relay.isBundled)
                    #expect(relay.isBundled == (bundle && rtcpMux))
                    for (mine, theirs) in zip(client.media, relay.media) {
                        try exchange(mine, theirs)
                        #expect(mine.kind == theirs.kind && mine.payloadType == theirs.payloadType)
                        #expect(mine.mid == theirs.mid && mine.feedback == theirs.feedback)
                        #expect(mine.extensionIDs == theirs.extensionIDs)
                        #expect(mine.rtcpMux == rtcpMux && theirs.rtcpMux == rtcpMux)
                        #expect(
                            mine.keys?.outbound == theirs.keys?.inbound && mine.keys?.inbound == theirs.keys?.outbound)
                        #expect(mine.keys?.inbound.profile == profiles[0])
                        #expect(mine.remoteSSRCs == [theirs.localSSRC] && theirs.remoteSSRCs == [mine.localSSRC])
                        #expect(mine.remoteRTPAddress == Answered.relay && theirs.remoteRTPAddress == Self.client)
                        #expect(mine.remoteRTCPAddress == Answered.relay && theirs.remoteRTCPAddress == Self.client)
                        #expect(mine.direction == theirs.direction.reversed)
                    }
                    #expect(client.video?.feedback == .video)
                    #expect(client.audio?.feedback == .audio)
                    #expect(
                        client.audio?.extensionIDs.audioLevel != nil && client.video?.extensionIDs.audioLevel == nil)
                }
            }
        }
    }

    @Test("a client that only watches, or only publishes, can join", arguments: MediaDirection.allCases)
    func directions(direction: MediaDirection) throws {
        let (client, relay) = try negotiate(
            OfferParameters(
                address: Self.client, video: .init(direction: direction), audio: .init(direction: direction)))
        #expect(client.video?.direction == direction && relay.video?.direction == direction.reversed)
        #expect(client.video?.sends == relay.video?.receives)
    }

    @Test("a client with only audio or only video is normal")
    func oneStream() throws {
        let audio = try negotiate(OfferParameters(address: Self.client, video: nil))
        #expect(audio.client.video == nil && audio.relay.audio != nil)
        let video = try negotiate(OfferParameters(address: Self.client, audio: nil))
        #expect(video.client.audio == nil && video.relay.video != nil)
    }

    @Test("a stream that the relay rejects is missing on both sides")
    func rejectedStream() throws {
        var policy = AnswerPolicy(publicAddress: Answered.relay)
        policy.videoDirection = nil
        let (client, relay) = try negotiate(OfferParameters(address: Self.client), policy: policy)
        #expect(client.video == nil && relay.video == nil)
        try exchange(try #require(client.audio), try #require(relay.audio))
    }

    @Test("each side learns which media the other can receive")
    func receivers() throws {
        var parameters = OfferParameters(address: Self.client)
        parameters.video = .init(
            formats: [
                OfferParameters.VideoFormat(
                    payloadType: 120,
                    parameters: H264FormatParameters(
                        profileLevelID: H264ProfileLevelID(.main, level: .level31), maximumFrameSize: 8160))
            ], maximumBitRate: .megabits(3))
        parameters.audio = .init(
            payloadType: 100,
            opus: OpusFormatParameters(
                stereo: true, maximumAverageBitRate: .kilobits(96), packetTime: .milliseconds(40)))
        var policy = AnswerPolicy(publicAddress: Answered.relay)
        policy.maximumReceiveLevel = .level4
        policy.maximumVideoBitRate = .megabits(5)
        policy.opus = OpusFormatParameters(usesInbandFEC: true, usesDTX: true, maximumPacketTime: .milliseconds(60))
        let (client, relay) = try negotiate(parameters, policy: policy)
        #expect(relay.video?.payloadType == 120 && relay.audio?.payloadType == 100)
        #expect(relay.video?.h264?.profileLevelID == H264ProfileLevelID(.main, level: .level31))
        #expect(relay.video?.h264?.maximumFrameSize == 8160)
        #expect(relay.video?.maximumBitRate == .megabits(3))
        #expect(client.video?.h264?.profileLevelID == H264ProfileLevelID(.main, level: .level4))
        #expect(client.video?.maximumBitRate == .megabits(5))
        #expect(relay.audio?.opus == parameters.audio?.opus)
        #expect(client.audio?.opus == policy.opus)
    }

    @Test("a level without asymmetry is the lower one on both sides")
    func symmetricLevel() throws {
        var parameters = OfferParameters(address: Self.client)
        parameters.video?.formats = [
            OfferParameters.VideoFormat(
                payloadType: 120,
                parameters: H264FormatParameters(
                    profileLevelID: H264ProfileLevelID(.high, level: .level4), levelAsymmetryAllowed: false))
        ]
        var policy = AnswerPolicy(publicAddress: Answered.relay)
        policy.maximumReceiveLevel = .level31
        let (client, relay) = try negotiate(parameters, policy: policy)
        #expect(client.video?.h264?.profileLevelID?.level == .level31)
        #expect(relay.video?.h264?.profileLevelID?.level == .level31)
    }

    @Test(
        "an answer that does not fit the offer is an error",
        arguments: [
            ("m=audio 7000 RTP/SAVPF 111", "m=video 7000 RTP/SAVPF 111", "stands where"),
            ("m=audio 7000 RTP/SAVPF 111", "m=audio 7000 RTP/SAVP 111", "was not offered"),
            ("m=audio 7000 RTP/SAVPF 111", "m=audio 7000 RTP/SAVPF 8", "payload types"),
            ("a=crypto:1 AEAD_AES_128_GCM", "a=crypto:9 AEAD_AES_128_GCM", "tag 9"),
            ("a=crypto:1 AEAD_AES_128_GCM", "a=crypto:2 AEAD_AES_128_GCM", "tag 2"),
            ("a=crypto:1 AEAD_AES_128_GCM", "a=other:1 AEAD_AES_128_GCM", "0 a=crypto"),
            ("a=group:BUNDLE 0 1", "a=group:BUNDLE 0 7", "'7'"),
            ("packetization-mode=1", "packetization-mode=0", "packetization mode"),
            ("profile-level-id=64", "profile-level-id=42", "profile"),
        ])
    func mismatches(original: String, replacement: String, reason: String) throws {
        var generator = SeededGenerator(seed: 12)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: Self.client), using: &generator)
        let (answer, _) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
        try pending.expectMismatch(of: answer, replacing: original, with: replacement, reason: reason)
    }

    @Test("an answer that rejects everything, or lacks a line, is an error")
    func rejectingAnswers() throws {
        var generator = SeededGenerator(seed: 13)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: Self.client), using: &generator)
        var answer = offer
        answer.attributes = []
        answer.media[0].port = 0
        answer.media[1].port = 0
        #expect(throws: SDPError.self) { _ = try OfferAnswer.complete(pending: pending, answer: answer) }
        answer.media.removeLast()
        #expect(throws: SDPError.self) { _ = try OfferAnswer.complete(pending: pending, answer: answer) }
    }

    @Test("an answer that leaves the group out is completed with each stream's own keys")
    func unbundledAnswer() throws {
        var generator = SeededGenerator(seed: 14)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: Self.client), using: &generator)
        var plain = offer
        plain.attributes = []
        let (answer, relay) = try OfferAnswer.answer(
            offer: plain, policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
        let client = try OfferAnswer.complete(pending: pending, answer: answer)
        #expect(!client.isBundled)
        #expect(client.audio?.keys?.outbound != client.video?.keys?.outbound)
        for (mine, theirs) in zip(client.media, relay.media) { try exchange(mine, theirs) }
    }

    @Test("the offer contains the requested media")
    func offerText() throws {
        var generator = SeededGenerator(seed: 15)
        var parameters = OfferParameters(
            address: Self.client, usesFeedbackProfile: false, rtcpMux: false, bundle: false)
        parameters.headerExtensions = [.audioLevel, .mid]
        let (offer, _) = OfferAnswer.makeOffer(parameters, using: &generator)
        #expect(
            offer.media.map(\.transport) == [.rtp(keying: .sessionDescription, feedback: false)] + [
                .rtp(keying: .sessionDescription, feedback: false)
            ])
        #expect(offer.connection?.description == "IN IP4 192.0.2.7")
        #expect(offer.media.allSatisfy { $0.port == 6000 && !$0.rtcpMux && $0.mid == nil })
        #expect(try offer.media.map { try $0.extensionMaps().map(\.uri) } == [[HeaderExtension.audioLevel.uri], []])
        #expect(try offer.media[1].cryptoAttributes().map(\.suiteName) == SRTPProfile.allCases.map(\.cryptoSuiteName))
        #expect(!offer.encode().contains("transport-cc"))
        #expect(offer.media[1].formats == ["96", "97", "98", "99", "100", "101", "102", "103", "104"])
    }
}

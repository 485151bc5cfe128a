import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct DTLSAnswerTests {
    @Test(
        "every real offer is answered: its m= lines in their order, one transport, and text that parses",
        arguments: Fixture.joining)
    func answered(fixture: Fixture) throws {
        let offer = try fixture.offer
        let answered = try Answered.overDTLS(fixture.text)
        #expect(answered.answer.media.map(\.kind) == offer.media.map(\.kind))
        #expect(answered.answer.media.map(\.transport) == offer.media.map(\.transport))
        #expect(answered.answer.media.map(\.mid) == offer.media.map(\.mid))
        #expect(try SessionDescription(parsing: answered.answer.encode()) == answered.answer)
        let transport = try #require(answered.session.transport)
        let accepted = answered.session.media.map { answered.answer.media[$0.index] }
        #expect(!accepted.isEmpty && answered.answer.media.count { $0.port != 0 } == accepted.count)
        for description in accepted {
            #expect(description.values("ice-ufrag") == [transport.localCredentials.usernameFragment])
            #expect(description.values("ice-pwd") == [transport.localCredentials.password])
            #expect(description.values("fingerprint").first?.hasPrefix("sha-256 00:01:02:") == true)
            #expect(description.rtcpMux && description.port == 7000)
            // The offerer asks for what it can do, and gets one payload type with its parameters.
            let offered = offer.media[answered.session.media.first { $0.mid == description.mid }?.index ?? 0]
            #expect(Set(description.formats).isSubset(of: offered.formats))
            #expect(Set(description.values("extmap")).isSubset(of: offered.values("extmap")))
            #expect(Set(description.values("rtcp-fb")).isSubset(of: offered.values("rtcp-fb")))
            #expect(description.ownDirection?.receives != true || offered.ownDirection?.sends == true)
            #expect(description.ownDirection?.sends != true || offered.ownDirection?.receives == true)
        }
        #expect(answered.session.media.allSatisfy { $0.keys == nil && $0.rtcpMux && $0.remoteRTPAddress == nil })
        #expect(transport.remoteCandidates.isEmpty && !transport.isRemoteLite)
    }

    @Test("Chromium's offer is answered with everything that both sides have")
    func chromium() throws {
        let answered = try Answered.overDTLS(Fixture(name: "chromium-sendrecv").text)
        #expect(
            answered.answer.attributes == [
                SDPAttribute("group", "BUNDLE 0 1"), SDPAttribute("ice-lite"),
                SDPAttribute("ice-options", "ice2 trickle"),
            ])
        let transport = try #require(answered.session.transport)
        #expect(transport.dtlsRole == .server)
        #expect(transport.remoteCredentials.usernameFragment == "FusR")
        #expect(transport.remoteCredentials.password == "XOBG8giMhO4Hpd9UqFv5V5EW")
        #expect(transport.remoteFingerprints.map(\.description).first?.hasPrefix("6B:8E:05:D2") == true)
        #expect(transport.remoteFingerprints.count == 1 && answered.session.isBundled)

        let video = try #require(answered.session.video)
        #expect(video.payloadType == 116 && video.retransmissionPayloadType == 117)
        #expect(video.remoteSSRCs == [1_392_121_080])
        #expect(video.remoteRetransmissionSSRCs == [3_196_011_646: 1_392_121_080])
        let feedback = FeedbackSupport(nack: true, pli: true, fir: true, transportCC: true, remb: true)
        #expect(video.feedback == feedback && video.direction == .sendAndReceive && video.reducedSizeRTCP)
        #expect(
            video.extensionIDs
                == HeaderExtensionIDs(
                    transportSequenceNumber: 3, absoluteSendTime: 2, audioLevel: nil, mid: 4, videoOrientation: 13))
        let audio = try #require(answered.session.audio)
        #expect(audio.payloadType == 111 && audio.opus?.usesInbandFEC == true && audio.feedback == .audio)
        #expect(audio.extensionIDs.audioLevel == 1 && audio.retransmissionPayloadType == nil)

        let described = answered.answer.media[1]
        let retransmission = try #require(video.localRetransmissionSSRC)
        #expect(described.formats == ["116", "117"])
        #expect(described.values("rtpmap") == ["116 H264/90000", "117 rtx/90000"])
        #expect(described.values("fmtp").last == "117 apt=116")
        #expect(described.values("ssrc-group") == ["FID \(video.localSSRC) \(retransmission)"])
        #expect(try described.ssrcs() == [video.localSSRC])
        #expect(described.values("setup") == ["passive"] && described.values("msid") == ["mix mix-video"])
        #expect(Set([video.localSSRC, retransmission, audio.localSSRC]).count == 3)
    }

    @Test("the first media description of the group has the candidates, IPv4 and IPv6, and the end of them")
    func candidates() throws {
        let answered = try Answered.overDTLS(Fixture(name: "chromium-two-videos-datachannel").text)
        let first = answered.answer.media[0]
        #expect(
            answered.answer.iceCandidates(of: first).map(\.address.description) == [
                "203.0.113.5:7000", "[2001:db8::5]:7000",
            ])
        #expect(first.hasAttribute("end-of-candidates"))
        #expect(answered.answer.media.dropFirst().allSatisfy { !$0.hasAttribute("candidate") })
    }

    @Test(
        "of two videos the first is the camera and the second the screen share, which only come in; more are rejected")
    func twoVideos() throws {
        let answered = try Answered.overDTLS(Fixture(name: "chromium-two-videos-datachannel").text)
        #expect(answered.answer.media.map(\.port) == [7000, 7000, 7000, 0])
        #expect(answered.session.video?.index == 1 && answered.session.screenShare?.index == 2)
        #expect(answered.session.screenShare?.direction == .receiveOnly)
        #expect(answered.answer.media[2].values("content") == ["slides"])
        #expect(answered.answer.media[2].values("msid").isEmpty)
        #expect(answered.answer.attributes.first == SDPAttribute("group", "BUNDLE 0 1 2"))

        // The mark of screen share is recognised in any position.
        let text = try Fixture(name: "chromium-two-videos-datachannel").text
            .replacing("a=mid:1\r\n", with: "a=mid:1\r\na=content:slides\r\n")
        let swapped = try Answered.overDTLS(text)
        #expect(swapped.session.video?.index == 2 && swapped.session.screenShare?.index == 1)
    }

    @Test(
        "a viewer gets no screen share: a second video that asks for it is inactive, or rejected")
    func watching() throws {
        let text = try Fixture(name: "chromium-max-bundle-two-videos").text
        #expect(try Answered.overDTLS(text).session.screenShare?.direction == .inactive)
        var policy = AnswerPolicy.overDTLS
        policy.videoDirection = .sendOnly
        policy.audioDirection = .sendOnly
        let watching = try Answered(text, policy: policy)
        #expect(watching.session.screenShare == nil && watching.session.video?.direction == .sendOnly)
        #expect(watching.answer.media.map(\.port) == [7000, 7000, 0])
    }

    @Test("a data channel is rejected in place, also where the group begins with it")
    func dataChannelFirst() throws {
        let answered = try Answered.overDTLS(Fixture(name: "chromium-datachannel-first").text)
        #expect(answered.answer.media.map(\.port) == [0, 7000, 7000])
        #expect(answered.answer.attributes.first == SDPAttribute("group", "BUNDLE 1 2"))
        #expect(!answered.answer.iceCandidates(of: answered.answer.media[1]).isEmpty)
        #expect(answered.answer.media[0].attributes == [SDPAttribute("mid", "0"), SDPAttribute("inactive")])
    }

    @Test("simulcast is accepted as one stream")
    func simulcast() throws {
        let answered = try Answered.overDTLS(Fixture(name: "chromium-simulcast").text)
        #expect(answered.session.video?.direction == .receiveOnly)
        #expect(!answered.answer.media[0].hasAttribute("simulcast") && !answered.answer.media[0].hasAttribute("rid"))
    }

    @Test("useless loss protection is not accepted: RED for video, ULPFEC, retransmission of audio")
    func noForwardErrorCorrection() throws {
        let answered = try Answered.overDTLS(Fixture(name: "webrtcbin-sendonly-nack-fec").text)
        #expect(answered.answer.media.map(\.formats) == [["96", "100"], ["97"]])
        #expect(answered.session.video?.retransmissionPayloadType == 100)
        #expect(answered.session.video?.remoteRetransmissionSSRCs == [317_777_159: 4_114_013_328])
        #expect(answered.session.audio?.remoteSSRCs == [3_114_287_382])
    }

    @Test("without a=rtcp-fb nack there are no retransmissions, with any payload types")
    func noNACK() throws {
        let text = try Fixture(name: "webrtcbin-sendonly-nack-fec").text
            .replacing("a=rtcp-fb:96 nack\r\n", with: "")
        let video = try #require(try Answered.overDTLS(text).session.video)
        #expect(video.retransmissionPayloadType == nil && video.localRetransmissionSSRC == nil)
        #expect(video.remoteRetransmissionSSRCs.isEmpty && video.remoteSSRCs == [4_114_013_328])
    }

    @Test("Safari's constrained High is chosen, and Firefox's only profile in packetization mode 1")
    func otherBrowsers() throws {
        let safari = try Answered.overDTLS(Fixture(name: "safari-sendrecv").text)
        #expect(safari.session.video?.payloadType == 96 && safari.session.video?.retransmissionPayloadType == 97)
        #expect(safari.answer.media[1].values("fmtp").first?.contains("profile-level-id=640c33") == true)
        let firefox = try Answered.overDTLS(Fixture(name: "firefox-sendrecv").text)
        #expect(firefox.session.video?.payloadType == 126 && firefox.session.video?.retransmissionPayloadType == 127)
        #expect(firefox.session.video?.remoteRetransmissionSSRCs == [2_154_190_523: 3_365_890_128])
        #expect(firefox.session.transport?.remoteFingerprints.count == 1)
    }

    @Test("OBS states its transport once for the session, and FFmpeg takes the active part")
    func publishers() throws {
        let obs = try Answered.overDTLS(Fixture(name: "obs-whip").text)
        #expect(obs.session.transport?.remoteCredentials.usernameFragment == "JLvv")
        #expect(obs.session.transport?.dtlsRole == .server)
        #expect(obs.answer.attributes.contains(SDPAttribute("ice-options", "ice2 trickle")))
        let ffmpeg = try Answered.overDTLS(Fixture(name: "ffmpeg-whip").text)
        #expect(ffmpeg.session.transport?.dtlsRole == .server)
        #expect(ffmpeg.answer.media.allSatisfy { $0.values("setup") == ["passive"] })
        #expect(ffmpeg.answer.attributes.contains(SDPAttribute("ice-options", "ice2")))
    }

    @Test(
        "media with port 0 and a=bundle-only is accepted; attributes that it lacks are those of the group's first media"
    )
    func bundleOnly() throws {
        for name in ["whip-bundle-only", "webrtcbin-sendrecv"] {
            let answered = try Answered.overDTLS(Fixture(name: name).text)
            #expect(answered.session.media.count == 2)
            #expect(answered.answer.media.allSatisfy { $0.port == 7000 && $0.rtcpMux })
        }
    }

    @Test("media outside the group has no transport and is rejected; without a group there is room for one")
    func unbundled() throws {
        let answered = try Answered.overDTLS(Fixture(name: "webrtcbin-unbundled").text)
        #expect(answered.answer.media.map(\.port) == [7000, 0] && !answered.session.isBundled)
        #expect(answered.answer.attributes.first == SDPAttribute("ice-lite"))
        let text = try Fixture(name: "chromium-sendrecv").text.replacing("a=group:BUNDLE 0 1", with: "a=group:BUNDLE 1")
        let grouped = try Answered.overDTLS(text)
        #expect(grouped.answer.media.map(\.port) == [0, 7000] && grouped.session.isBundled)
    }

    @Test("a profile that does not name DTLS means it where there is a fingerprint, and is answered as it was offered")
    func otherProfiles() throws {
        for profile in ["RTP/SAVPF", "RTP/AVPF", "UDP/TLS/RTP/SAVP"] {
            let text = try Fixture(name: "chromium-sendrecv").text.replacing("UDP/TLS/RTP/SAVPF", with: profile)
            let answered = try Answered.overDTLS(text)
            #expect(answered.session.transport != nil && answered.session.media.count == 2)
            #expect(answered.answer.media.allSatisfy { $0.transport.description == profile })
        }
    }

    @Test("offers with keys are answered as before where there is a certificate")
    func keyed() throws {
        for sample in Offers.all {
            let answered = try Answered.overDTLS(sample.text)
            #expect(answered.session.transport == nil && answered.session.media.allSatisfy { $0.keys != nil })
        }
    }
}

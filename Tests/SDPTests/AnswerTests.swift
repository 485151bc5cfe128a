import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct AnswerTests {
    @Test("the answer has the offer's m= lines in their order, and parses", arguments: Offers.all)
    func mirrors(offer: Offers.Sample) throws {
        let offered = try SessionDescription(parsing: offer.text)
        let answered = try Answered(offer.text)
        #expect(answered.answer.media.map(\.kind) == offered.media.map(\.kind))
        #expect(answered.answer.media.map(\.transport) == offered.media.map(\.transport))
        #expect(answered.answer.media.map(\.mid) == offered.media.map(\.mid))
        #expect(answered.answer.media.allSatisfy { $0.port == 7000 })
        #expect(answered.answer.connection?.host == "203.0.113.5")
        #expect(try SessionDescription(parsing: answered.answer.encode()) == answered.answer)
        #expect(answered.session.media.count == 2)
    }

    @Test("an offer of ffmpeg is answered: SRTP under another profile's name, no H.264 profile")
    func ffmpeg() throws {
        let answered = try Answered(Offers.ffmpeg)
        let video = try #require(answered.session.video)
        #expect(video.payloadType == 96)
        #expect(video.packetizationMode == 1)
        #expect(video.profileLevelID == nil)
        #expect(video.keys?.inbound.sdesInline == Offers.otherCounterModeKey)
        #expect(video.remoteRTPAddress == TransportAddress(ipv4: 0x7F00_0001, port: 5004))
        #expect(video.remoteRTCPAddress == TransportAddress(ipv4: 0x7F00_0001, port: 5005))
        #expect(video.feedback == .none && !video.rtcpMux)
        #expect(video.sends && video.receives)
        let audio = try #require(answered.session.audio)
        #expect(audio.payloadType == 97)
        #expect(audio.maximumBitRate == .kilobits(64))
        #expect(audio.keys?.outbound != video.keys?.outbound)
        for media in answered.answer.media {
            #expect(media.attribute("rtcp")?.value == "7000")
            #expect(!media.rtcpMux)
        }
    }

    @Test("parameter sets of the offer are handed on where they can be read, and not repeated in the answer")
    func parameterSets() throws {
        let answered = try Answered(
            Offers.video(
                Offers.h264,
                "a=fmtp:96 packetization-mode=1; sprop-parameter-sets=Z0LAH9oBQBbsBEAAAAMAQAAADwPGDKg=,a?,,aM4PyA==",
                Offers.crypto))
        #expect(
            answered.session.video?.h264?.parameterSets.map { $0.prefix(4) } == [
                [0x67, 0x42, 0xC0, 0x1F], [0x68, 0xCE, 0x0F, 0xC8],
            ])
        #expect(!answered.answer.encode().contains("sprop"))
    }

    @Test("an offer of libwebrtc's kind is answered with everything that both sides have")
    func webRTC() throws {
        let answered = try Answered(Offers.webRTC)
        #expect(answered.session.isBundled)
        #expect(answered.answer.attributes == [SDPAttribute("group", "BUNDLE audio video")])
        let video = try #require(answered.session.video)
        #expect(video.payloadType == 108)
        #expect(video.mid == "video")
        #expect(video.feedback == FeedbackSupport(nack: true, pli: true, transportCC: true))
        #expect(
            video.extensionIDs
                == HeaderExtensionIDs(
                    transportSequenceNumber: 3, absoluteSendTime: 2, audioLevel: nil, mid: 4, videoOrientation: 13))
        #expect(video.remoteSSRCs == [2001])
        #expect(video.rtcpMux && video.reducedSizeRTCP)
        #expect(video.remoteRTPAddress == nil)
        #expect(video.maximumBitRate == .kilobits(2500))
        #expect(
            video.profileLevelID
                == H264ProfileLevelID(profileIDC: 66, constraintFlags: 0xE0, levelIDC: 31))
        let audio = try #require(answered.session.audio)
        #expect(audio.opus?.stereo == true && audio.opus?.usesInbandFEC == true)
        #expect(audio.opus?.maximumAverageBitRate == .kilobits(64))
        #expect(audio.extensionIDs.audioLevel == 1)
        #expect(audio.keys?.inbound == video.keys?.inbound && audio.keys?.outbound == video.keys?.outbound)
        #expect(audio.keys?.inbound.profile == .aeadAES128GCM)

        let description = answered.answer.media[1]
        #expect(description.formats == ["108"])
        #expect(
            description.attribute("fmtp")?.value
                == "108 profile-level-id=42e033;level-asymmetry-allowed=1;packetization-mode=1")
        let crypto = try #require(try description.cryptoAttributes().first)
        #expect(crypto.tag == 7 && crypto.keys.first?.keyAndSalt == video.keys?.outbound.sdesInline)
        #expect(
            description.attributes.filter { $0.name == "rtcp-fb" }.compactMap(\.value)
                == ["108 nack", "108 nack pli", "108 transport-cc"])
        #expect(
            description.attributes.contains(SDPAttribute("ssrc", "\(video.localSSRC) cname:\(answered.session.cname)")))
        #expect(!description.hasAttribute("msid"))
    }

    @Test("AEAD_AES_128_GCM is preferred in whatever order suites are offered, and the policy may say otherwise")
    func suitePreference() throws {
        let galois = "a=crypto:2 AEAD_AES_128_GCM inline:\(Offers.galoisKey)"
        for lines in [[Offers.crypto, galois], [galois, Offers.crypto]] {
            let offer = Offers.video(Offers.h264, lines[0], lines[1])
            #expect(try Answered(offer).session.video?.keys?.inbound.profile == .aeadAES128GCM)
            var policy = AnswerPolicy(publicAddress: Answered.relay)
            policy.srtpProfiles = [.aesCM128HMACSHA1_80]
            let answered = try Answered(offer, policy: policy)
            #expect(answered.session.video?.keys?.inbound.sdesInline == Offers.counterModeKey)
            #expect(try answered.answer.media[0].cryptoAttributes().map(\.tag) == [1])
        }
    }

    @Test("our key differs from the offer's and from stream to stream and answer to answer")
    func freshKeys() throws {
        var generator = SeededGenerator(seed: 9)
        var seen: Set<SRTPKeyMaterial> = []
        for _ in 0..<10 {
            let (_, session) = try OfferAnswer.answer(
                offer: SessionDescription(parsing: Offers.gstreamer),
                policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
            for media in session.media {
                #expect(media.keys?.inbound != media.keys?.outbound)
                #expect(seen.insert(try #require(media.keys).outbound).inserted)
            }
        }
    }

    @Test(
        "the best H.264 payload type is chosen: packetization mode first, then profile",
        arguments: [
            // Payload types 96, 97, …: (profile-level-id, packetization mode); the expected index.
            ([("42e01f", 0), ("42e01f", 1)], 1), ([("64001f", 0), ("42001f", 1)], 1),
            ([("42001f", 1), ("42e01f", 1), ("4d001f", 1), ("64001f", 1)], 3), ([("42001f", 1), ("42e01f", 1)], 1),
            ([("42e01f", 2), ("42001f", 0)], 1), ([("6e001f", 1), ("42e01f", 0)], 1),
            ([("64001f", 1), ("640c28", 1)], 0),
        ])
    func h264Choice(formats: [(String, Int)], best: Int) throws {
        let types = formats.indices.map { 96 + $0 }
        let lines = zip(types, formats).flatMap { type, format in
            [
                "a=rtpmap:\(type) H264/90000",
                "a=fmtp:\(type) profile-level-id=\(format.0);packetization-mode=\(format.1)",
            ]
        }
        let offer = Offers.video(
            lines.joined(separator: "\r\n"), Offers.crypto, formats: types.map(String.init).joined(separator: " "))
        let video = try #require(try Answered(offer).session.video)
        #expect(video.payloadType == UInt8(96 + best))
        #expect(video.packetizationMode == UInt8(formats[best].1))
        let fmtp = try Answered(offer).answer.media[0].attribute("fmtp")?.value
        #expect(fmtp?.contains("profile-level-id=\(formats[best].0.prefix(4))") == true)
    }

    @Test("without level asymmetry one level holds both ways; with it each side names its own")
    func levels() throws {
        func levels(_ parameters: String) throws -> (answered: UInt8?, send: UInt8?) {
            let offer = Offers.video(Offers.h264, "a=fmtp:96 \(parameters)", Offers.crypto)
            var policy = AnswerPolicy(publicAddress: Answered.relay)
            policy.maximumReceiveLevel = .level4
            policy.maximumSendLevel = H264ProfileLevelID.Level(idc: 32)
            let answered = try Answered(offer, policy: policy)
            let parameters = try H264FormatParameters(answered.answer.media[0].formatParameters(payloadType: 96))
            return (parameters.profileLevelID?.levelIDC, answered.session.video?.profileLevelID?.levelIDC)
        }
        #expect(try levels("profile-level-id=42e01f") == (31, 31))
        #expect(try levels("profile-level-id=42e033") == (32, 32))
        #expect(try levels("profile-level-id=42e01f;level-asymmetry-allowed=1") == (40, 31))
        #expect(try levels("profile-level-id=42e033;level-asymmetry-allowed=1") == (40, 32))
        #expect(try levels("packetization-mode=1") == (nil, nil))
    }

    @Test(
        "directions are the reverse of the offer's within what the policy allows",
        arguments: [
            (MediaDirection.sendAndReceive, MediaDirection.sendAndReceive, MediaDirection.sendAndReceive),
            (.sendOnly, .sendAndReceive, .receiveOnly), (.receiveOnly, .sendAndReceive, .sendOnly),
            (.inactive, .sendAndReceive, .inactive), (.sendAndReceive, .receiveOnly, .receiveOnly),
            (.sendAndReceive, .sendOnly, .sendOnly), (.sendOnly, .sendOnly, .inactive),
        ])
    func directions(offered: MediaDirection, allowed: MediaDirection, expected: MediaDirection) throws {
        var policy = AnswerPolicy(publicAddress: Answered.relay)
        policy.videoDirection = allowed
        for line in ["a=\(offered.rawValue)", "a=x"] {
            // Once at the media, once at the session.
            var offer = Offers.video(Offers.h264, Offers.crypto, line)
            if line == "a=x" {
                offer = offer.replacing("m=video", with: "a=\(offered.rawValue)\r\nm=video")
            }
            let answered = try Answered(offer, policy: policy)
            #expect(answered.session.video?.direction == expected)
            #expect(answered.answer.media[0].ownDirection == expected)
            #expect(answered.answer.media[0].hasAttribute("ssrc") == expected.sends)
        }
    }

    @Test(
        "header extensions come back with their identifiers, in the reverse direction, and only where they make sense")
    func extensions() throws {
        let transport = HeaderExtension.transportSequenceNumber.uri
        let offer = Offers.video(
            Offers.h264, Offers.crypto, "a=extmap:5/sendonly \(transport)",
            "a=extmap:6/recvonly \(HeaderExtension.absoluteSendTime.uri)",
            "a=extmap:7 \(HeaderExtension.audioLevel.uri)", "a=extmap:8 \(HeaderExtension.mid.uri)",
            "a=extmap:9 urn:unknown", "a=extmap:4096 \(HeaderExtension.mid.uri)", "a=rtcp-fb:* transport-cc")
        let answered = try Answered(offer)
        let video = try #require(answered.session.video)
        #expect(video.extensionIDs == HeaderExtensionIDs(transportSequenceNumber: 5, absoluteSendTime: 6))
        #expect(video.outboundExtensionIDs == HeaderExtensionIDs(absoluteSendTime: 6))
        #expect(video.feedback.transportCC)
        #expect(
            try answered.answer.media[0].extensionMaps() == [
                ExtensionMap(id: 5, direction: .receiveOnly, uri: transport),
                ExtensionMap(id: 6, direction: .sendOnly, uri: HeaderExtension.absoluteSendTime.uri),
            ])
    }

    @Test("requests for a maximum rate are agreed on if they were offered, with any parameters")
    func maximumRateRequests() throws {
        for stated in ["ccm tmmbr", "ccm tmmbr smaxpr=120"] {
            let offer = Offers.video(Offers.h264, Offers.crypto, "a=rtcp-fb:96 nack", "a=rtcp-fb:96 \(stated)")
            let answered = try Answered(offer)
            #expect(answered.session.video?.feedback == FeedbackSupport(nack: true, tmmbr: true))
            #expect(
                answered.answer.media[0].attributes.filter { $0.name == "rtcp-fb" }.compactMap(\.value)
                    == ["96 nack", "96 ccm tmmbr"])
        }
    }

    @Test("a receiver that reports its pictures is answered, and no other is asked to report them")
    func referencePictureSelection() throws {
        for isOffered in [true, false] {
            let offer = Offers.video(
                Offers.h264, Offers.crypto, "a=rtcp-fb:96 nack pli", isOffered ? "a=rtcp-fb:96 nack rpsi" : "a=x")
            let answered = try Answered(offer)
            #expect(answered.session.video?.feedback == FeedbackSupport(pli: true, rpsi: isOffered))
            #expect(
                answered.answer.media[0].attributes.filter { $0.name == "rtcp-fb" }.compactMap(\.value)
                    == ["96 nack pli"] + (isOffered ? ["96 nack rpsi"] : []))
        }
    }

    @Test("feedback for all payload types counts for ours; transport-cc needs its header extension")
    func wildcardFeedback() throws {
        let offer = Offers.video(
            Offers.h264, Offers.crypto, "a=rtcp-fb:* nack", "a=rtcp-fb:* ccm fir", "a=rtcp-fb:96 goog-remb",
            "a=rtcp-fb:97 nack pli", "a=rtcp-fb:* transport-cc", "a=rtcp-fb:* trr-int 100")
        let answered = try Answered(offer)
        #expect(answered.session.video?.feedback == FeedbackSupport(nack: true, fir: true, remb: true))
        #expect(
            answered.answer.media[0].attributes.filter { $0.name == "rtcp-fb" }.compactMap(\.value)
                == ["96 nack", "96 ccm fir", "96 goog-remb"])
    }

    @Test("the answer names our address of the family that the offer uses")
    func addressFamily() throws {
        let ipv6 = TransportAddress(ipv6: (0x2001_0DB8_0000_0000, 5), port: 7000)
        let policy = AnswerPolicy(publicAddress: Answered.relay, alternativeAddresses: [ipv6])
        let offer = Offers.video(Offers.h264, Offers.crypto)
        #expect(try Answered(offer, policy: policy).answer.connection?.description == "IN IP4 203.0.113.5")
        let offer6 = offer.replacing("c=IN IP4 192.0.2.1", with: "c=IN IP6 2001:db8::9")
        let answered = try Answered(offer6, policy: policy)
        #expect(answered.answer.connection?.description == "IN IP6 2001:db8::5")
        #expect(answered.session.video?.remoteRTPAddress?.description == "[2001:db8::9]:5004")
    }

    @Test("RTCP goes where a=rtcp says, to the next port, or with multiplexing to the same")
    func rtcpAddress() throws {
        func address(_ lines: String...) throws -> String? {
            let offer = Offers.video(Offers.h264, Offers.crypto, lines.joined(separator: "\r\n"))
            return try Answered(offer).session.video?.remoteRTCPAddress?.description
        }
        #expect(try address("a=x") == "192.0.2.1:5005")
        #expect(try address("a=rtcp:6001") == "192.0.2.1:6001")
        #expect(try address("a=rtcp:6001 IN IP4 192.0.2.9") == "192.0.2.9:6001")
        #expect(try address("a=rtcp-mux", "a=rtcp:6001") == "192.0.2.1:5004")
    }

    @Test("the answer repeats the offer's time")
    func timing() throws {
        let offer = Offers.video(Offers.h264, Offers.crypto).replacing("t=0 0", with: "t=3034423619 0")
        #expect(try Answered(offer).answer.encode().contains("\r\nt=3034423619 0\r\n"))
    }

    @Test("sources of ours differ from each other and from the offer's")
    func ssrcs() throws {
        let answered = try Answered(Offers.webRTC)
        let local = answered.session.media.map(\.localSSRC)
        let remote = answered.session.media.flatMap(\.remoteSSRCs)
        #expect(Set(local + remote).count == local.count + remote.count)
        #expect(answered.session.cname.utf8.count == 16)
    }
}

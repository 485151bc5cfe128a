import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct BundleTests {
    private func offer(group: String, _ media: [[String]]) -> String {
        (Offers.session + ["a=group:\(group)"] + media.flatMap { $0 }).joined(separator: "\r\n") + "\r\n"
    }

    private func video(_ mid: String, port: Int = 5004, _ lines: String...) -> [String] {
        ["m=video \(port) RTP/SAVPF 96", Offers.h264, "a=mid:\(mid)"] + lines
    }

    private func audio(_ mid: String, port: Int = 5004, _ lines: String...) -> [String] {
        ["m=audio \(port) RTP/SAVPF 111", "a=rtpmap:111 opus/48000/2", "a=mid:\(mid)"] + lines
    }

    private let otherCrypto = "a=crypto:5 AES_CM_128_HMAC_SHA1_80 inline:\(Offers.otherCounterModeKey)"

    @Test("bundled streams share the keys of the group's first stream, whatever the order of the m= lines")
    func sharedKeys() throws {
        let offer = offer(
            group: "BUNDLE v a",
            [audio("a", "a=rtcp-mux", Offers.crypto), video("v", "a=rtcp-mux", otherCrypto)])
        let answered = try Answered(offer)
        #expect(answered.answer.attributes == [SDPAttribute("group", "BUNDLE v a")])
        for media in answered.session.media {
            #expect(media.keys?.inbound.sdesInline == Offers.otherCounterModeKey)
            #expect(media.keys?.outbound == answered.session.media[0].keys?.outbound)
        }
        #expect(try answered.answer.media.map { try $0.cryptoAttributes().map(\.tag) } == [[5], [5]])
    }

    @Test("a bundle-only stream with port 0 and no key of its own is accepted")
    func bundleOnly() throws {
        let offer = offer(
            group: "BUNDLE a v",
            [
                audio("a", "a=rtcp-mux", Offers.crypto),
                video("v", port: 0, "a=rtcp-mux", "a=bundle-only"),
            ])
        let answered = try Answered(offer)
        #expect(answered.answer.media.map(\.port) == [7000, 7000])
        #expect(answered.session.video?.keys?.inbound.sdesInline == Offers.counterModeKey)
        #expect(answered.session.video?.remoteRTPAddress?.port == 5004)
    }

    @Test("a bundle-only stream outside of an accepted group is rejected")
    func bundleOnlyAlone() throws {
        let offer = offer(
            group: "BUNDLE a",
            [
                audio("a", "a=rtcp-mux", Offers.crypto),
                video("v", port: 0, "a=rtcp-mux", "a=bundle-only", Offers.crypto),
            ])
        #expect(try Answered(offer).answer.media.map(\.port) == [7000, 0])
    }

    @Test("a rejected stream leaves the group, and the next stream's keys are used")
    func rejectedLeaves() throws {
        let offer = offer(
            group: "BUNDLE d v a",
            [
                ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:d"],
                video("v", "a=rtcp-mux", otherCrypto), audio("a", "a=rtcp-mux", Offers.crypto),
            ])
        let answered = try Answered(offer)
        #expect(answered.answer.attributes == [SDPAttribute("group", "BUNDLE v a")])
        #expect(answered.answer.media[0].mid == "d" && answered.answer.media[0].port == 0)
        #expect(answered.session.audio?.keys?.inbound.sdesInline == Offers.otherCounterModeKey)
    }

    @Test("streams that do not multiplex RTCP are not bundled")
    func needsMultiplexing() throws {
        let offer = offer(group: "BUNDLE v a", [video("v", Offers.crypto), audio("a", otherCrypto)])
        let answered = try Answered(offer)
        #expect(!answered.session.isBundled)
        #expect(answered.answer.attributes.isEmpty)
        #expect(answered.session.video?.keys?.inbound.sdesInline == Offers.counterModeKey)
        #expect(answered.session.audio?.keys?.inbound.sdesInline == Offers.otherCounterModeKey)
        #expect(answered.session.video?.keys?.outbound != answered.session.audio?.keys?.outbound)
    }

    @Test("other groups are left out of the answer")
    func otherGroups() throws {
        let offer = offer(group: "LS v a", [video("v", Offers.crypto), audio("a", Offers.crypto)])
        let answered = try Answered(offer)
        #expect(answered.answer.attributes.isEmpty && !answered.session.isBundled)
    }

    @Test("tags that no stream has, or that are there twice in the group, change nothing")
    func oddGroups() throws {
        let offer = offer(group: "BUNDLE x v v a y", [video("v", "a=rtcp-mux", Offers.crypto)])
        #expect(try Answered(offer).answer.attributes == [SDPAttribute("group", "BUNDLE v")])
    }

    @Test("two streams with one identification tag are an error")
    func duplicateTag() {
        let offer = offer(group: "BUNDLE v", [video("v", Offers.crypto), audio("v", Offers.crypto)])
        #expect(Answered.error(offer)?.line == 13)
    }
}

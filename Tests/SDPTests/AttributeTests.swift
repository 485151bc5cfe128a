import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct AttributeTests {
    private func media(_ lines: [String], session: [String] = []) throws -> MediaDescription {
        let head = Offers.session + session + ["m=audio 5004 RTP/SAVPF 96 97"]
        return try #require(
            try SessionDescription(parsing: (head + lines).joined(separator: "\n")).media.first)
    }

    @Test("rtpmap, fmtp, feedback, extensions, sources and packet times are read")
    func accessors() throws {
        let media = try media([
            "a=rtpmap:96 opus/48000/2", "a=rtpmap:97 H264/90000", "a=fmtp:97 a=1; B = two ;flag;c=x=y",
            "a=rtcp-fb:* nack",
            "a=rtcp-fb:97  ccm   fir", "a=extmap:3/recvonly urn:x attributes", "a=extmap:4 urn:y", "a=ssrc:1 cname:x",
            "a=ssrc:4294967295 cname:x", "a=ssrc-group:FID 1 4294967295", "a=ptime:20", "a=maxptime:60.5", "a=mid:m",
            "a=rtcp:5006 IN IP6 ::1", "a=rtcp-mux", "a=bundle-only", "a=inactive",
        ])
        #expect(
            try media.rtpMaps() == [
                96: RTPMap(payloadType: 96, encodingName: "opus", clockRate: 48_000, channels: 2),
                97: RTPMap(payloadType: 97, encodingName: "H264", clockRate: 90_000),
            ])
        #expect(try media.formatParameters(payloadType: 97).values == ["a": "1", "b": "two", "c": "x=y"])
        #expect(try media.formatParameters(payloadType: 96).values.isEmpty)
        #expect(
            try media.rtcpFeedback() == [
                RTCPFeedbackAttribute(payloadType: nil, feedback: "nack"),
                RTCPFeedbackAttribute(payloadType: 97, feedback: "ccm fir"),
            ])
        #expect(
            try media.extensionMaps() == [
                ExtensionMap(id: 3, direction: .receiveOnly, uri: "urn:x"), ExtensionMap(id: 4, uri: "urn:y"),
            ])
        #expect(try media.ssrcs() == [1])
        #expect(try media.packetTime("ptime") == .milliseconds(20))
        #expect(try media.packetTime("maxptime") == .milliseconds(60))
        #expect(media.mid == "m")
        let rtcp = try #require(try media.rtcpAddress())
        #expect(rtcp.port == 5006 && rtcp.connection?.host == "::1")
        #expect(media.rtcpMux && media.bundleOnly && !media.reducedSizeRTCP)
        #expect(media.ownDirection == .inactive)
    }

    @Test(
        "a malformed attribute is an error with its line",
        arguments: [
            "a=rtpmap:96", "a=rtpmap:128 x/1", "a=rtpmap:96 x", "a=rtpmap:96 x/0", "a=rtpmap:96 /8000",
            "a=rtpmap:96 x/y",
            "a=rtpmap:96 x/99999999999", "a=rtpmap", "a=fmtp:96", "a=rtcp-fb:96", "a=rtcp-fb:x nack",
            "a=extmap:0 urn:x",
            "a=extmap:70000 urn:x", "a=extmap:1/up urn:x", "a=extmap:1", "a=ssrc:x cname:y",
            "a=ssrc:4294967296 cname:y",
            "a=ptime:0", "a=ptime:-1", "a=ptime:x", "a=ptime:1001", "a=rtcp:x", "a=rtcp:70000", "a=rtcp:1 IN IP4",
            "a=crypto:1", "a=crypto:",
        ])
    func malformed(line: String) throws {
        let media = try media([line])
        let error = #expect(throws: SDPError.self) {
            _ = try media.rtpMaps()
            _ = try media.formatParameters(payloadType: 96)
            _ = try media.rtcpFeedback()
            _ = try media.extensionMaps()
            _ = try media.ssrcs()
            _ = try media.packetTime("ptime")
            _ = try media.rtcpAddress()
            _ = try media.cryptoAttributes()
        }
        #expect(error?.line == 7)
    }

    @Test("bandwidth prefers TIAS, takes AS in kilobits, and does not overflow")
    func bandwidth() {
        #expect([BandwidthLimit(type: "AS", value: 500)].maximumBitRate == .kilobits(500))
        #expect(
            [BandwidthLimit(type: "AS", value: 500), BandwidthLimit(type: "TIAS", value: 7)].maximumBitRate
                == BitRate(bitsPerSecond: Int64(7)))
        #expect([BandwidthLimit(type: "AS", value: .max)].maximumBitRate == BitRate(bitsPerSecond: Int64.max))
        #expect([BandwidthLimit(type: "RS", value: 1)].maximumBitRate == nil)
    }

    @Test("a bandwidth of zero is no limit")
    func zeroBandwidth() {
        #expect([BandwidthLimit(type: "TIAS", value: 0)].maximumBitRate == nil)
        #expect([BandwidthLimit(type: "AS", value: 0)].maximumBitRate == nil)
        #expect(
            [BandwidthLimit(type: "TIAS", value: 0), BandwidthLimit(type: "AS", value: 500)].maximumBitRate
                == .kilobits(500))
    }

    @Test(
        "profile-level-id names profile and level as table 5 of RFC 6184 does",
        arguments: [
            ("42e01f", H264Profile.constrainedBaseline, H264ProfileLevelID.Level.level31),
            ("42C033", .constrainedBaseline, .level51), ("42001f", .baseline, .level31),
            ("42100b", .baseline, .level1b),
            ("42000b", .baseline, H264ProfileLevelID.Level(idc: 11)), ("4d8028", .constrainedBaseline, .level4),
            ("4d401f", .main, .level31), ("58c01f", .constrainedBaseline, .level31), ("58801f", .baseline, .level31),
            ("64001f", .high, .level31), ("640c1f", .high, .level31), ("640009", .high, .level1b),
        ])
    func profiles(text: String, profile: H264Profile, level: H264ProfileLevelID.Level) throws {
        let identifier = try #require(H264ProfileLevelID(text))
        #expect(identifier.profile == profile)
        #expect(identifier.level == level)
        #expect(identifier.description == text.lowercased())
    }

    @Test("other profiles and other texts are none of ours", arguments: ["6e001f", "7a001f", "f4001f", "58001f"])
    func otherProfiles(text: String) throws {
        #expect(try #require(H264ProfileLevelID(text)).profile == nil)
        for bad in ["", "42e01", "42e01f0", "+2e01f", "-2e01f", "xxxxxx", "42e01 "] {
            #expect(H264ProfileLevelID(bad) == nil, "\(bad)")
        }
    }

    @Test("level 1b is between 1 and 1.1, and is written in each profile's form")
    func level1b() {
        #expect(
            H264ProfileLevelID.Level(idc: 10) < .level1b
                && H264ProfileLevelID.Level.level1b < H264ProfileLevelID.Level(idc: 11))
        #expect(H264ProfileLevelID(.constrainedBaseline, level: .level1b).description == "42f00b")
        #expect(H264ProfileLevelID(.high, level: .level1b).description == "640009")
        var identifier = H264ProfileLevelID(.main, level: .level1b)
        identifier.level = .level31
        #expect(identifier.description == "4d001f")
    }
}

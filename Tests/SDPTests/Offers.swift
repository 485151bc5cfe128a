import Testing

@testable import SDP

/// Offers as real programs write them.
enum Offers {
    static let counterModeKey = "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"
    static let otherCounterModeKey = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5"
    static let galoisKey = "AAECAwQFBgcICQoLDA0OD6ChoqOkpaanqKmqqw=="

    /// The output of `ffmpeg -sdp_file` for two SRTP outputs: the profile's name is that of RTP without encryption,
    /// lines end with LF, and the H.264 profile is not stated.
    static let ffmpeg = """
        v=0
        o=- 0 0 IN IP4 127.0.0.1
        s=No Name
        t=0 0
        a=tool:libavformat 59.27.100
        m=video 5004 RTP/AVP 96
        c=IN IP4 127.0.0.1
        a=rtpmap:96 H264/90000
        a=fmtp:96 packetization-mode=1
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(otherCounterModeKey)
        m=audio 5006 RTP/AVP 97
        c=IN IP4 127.0.0.1
        b=AS:64
        a=rtpmap:97 opus/48000/2
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(otherCounterModeKey)

        """

    /// As typed for a GStreamer pipeline with srtpenc and srtpdec.
    static let gstreamer = """
        v=0
        o=user 1188340656180883 1 IN IP4 192.0.2.10
        s=Session streamed with GStreamer
        c=IN IP4 192.0.2.10
        t=0 0
        m=video 5000 RTP/SAVP 96
        a=rtpmap:96 H264/90000
        a=fmtp:96 packetization-mode=1;profile-level-id=42c01f;\
        sprop-parameter-sets=Z0LAH9oBQBbsBEAAAAMAQAAADwPGDKg=,aM4PyA==
        a=sendrecv
        a=rtcp:5001
        a=crypto:1 AEAD_AES_128_GCM inline:\(galoisKey)
        m=audio 5002 RTP/SAVP 97
        a=rtpmap:97 OPUS/48000/2
        a=ptime:20
        a=sendrecv
        a=crypto:1 AEAD_AES_128_GCM inline:\(galoisKey)
        """.replacingLineEnds

    /// In the manner of libwebrtc with SDES: bundled, multiplexed, many codecs, all feedback, retransmission streams.
    static let webRTC = """
        v=0
        o=- 4962303333179871722 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE audio video
        a=extmap-allow-mixed
        a=msid-semantic: WMS stream
        m=audio 9 RTP/SAVPF 111 63 0 8 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=mid:audio
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendrecv
        a=msid:stream audio0
        a=rtcp-mux
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(counterModeKey)
        a=crypto:7 AEAD_AES_128_GCM inline:\(galoisKey)
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1;stereo=1;maxaveragebitrate=64000
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:126 telephone-event/8000
        a=ssrc:1001 cname:peer
        m=video 9 RTP/SAVPF 96 97 102 103 108 114
        c=IN IP4 0.0.0.0
        b=AS:2500
        a=rtcp:9 IN IP4 0.0.0.0
        a=mid:video
        a=extmap:14 urn:ietf:params:rtp-hdrext:toffset
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:13 urn:3gpp:video-orientation
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendrecv
        a=rtcp-mux
        a=rtcp-rsize
        a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(counterModeKey)
        a=crypto:7 AEAD_AES_128_GCM inline:\(galoisKey)
        a=rtpmap:96 VP8/90000
        a=rtcp-fb:96 nack
        a=rtpmap:97 rtx/90000
        a=fmtp:97 apt=96
        a=rtpmap:102 H264/90000
        a=rtcp-fb:102 goog-remb
        a=rtcp-fb:102 transport-cc
        a=rtcp-fb:102 ccm fir
        a=rtcp-fb:102 nack
        a=rtcp-fb:102 nack pli
        a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
        a=rtpmap:103 rtx/90000
        a=fmtp:103 apt=102
        a=rtpmap:108 H264/90000
        a=rtcp-fb:108 nack
        a=rtcp-fb:108 nack pli
        a=rtcp-fb:108 transport-cc
        a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
        a=rtpmap:114 H264/90000
        a=fmtp:114 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=64001f
        a=ssrc-group:FID 2001 2002
        a=ssrc:2001 cname:peer
        a=ssrc:2001 msid:stream video0
        a=ssrc:2002 cname:peer
        a=ssrc:2002 msid:stream video0
        """.replacingLineEnds

    /// An offer under the name that a test's report shows.
    struct Sample: CustomTestStringConvertible {
        var testDescription: String
        var text: String
    }

    static let all = [
        Sample(testDescription: "ffmpeg", text: ffmpeg), Sample(testDescription: "GStreamer", text: gstreamer),
        Sample(testDescription: "libwebrtc", text: webRTC),
    ]

    /// An offer of one video stream that consists of these lines after the session's own.
    static func video(_ lines: String..., transport: String = "RTP/SAVPF", formats: String = "96") -> String {
        (session + ["m=video 5004 \(transport) \(formats)"] + lines).joined(separator: "\r\n") + "\r\n"
    }

    static let session = ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0"]
    static let h264 = "a=rtpmap:96 H264/90000"
    static let crypto = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(counterModeKey)"
}

extension String {
    /// With CRLF at the end of each line, the last one too.
    var replacingLineEnds: String {
        split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n") + "\r\n"
    }
}

import Foundation
import Testing

/// Senders whose descriptions and ciphers differ from those in `docs/joining.md`.
@Suite("Other ways to publish", .serialized)
struct PublishingTests {
    private static let hasFFmpeg = Programs.areInstalled("ffmpeg", "bash", "curl")
    private static let hasGStreamer = hasFFmpeg && Programs.hasGStreamer

    @Test(
        "ffmpeg pushes a file as it is, with the parameter sets in the offer only",
        .enabled(if: hasFFmpeg, "needs ffmpeg, curl and bash: make test installs them"))
    func ffmpegCopiesFile() async throws {
        try await publish(
            """
            ffmpeg -v error -nostdin -f lavfi -i smptebars=size=320x180:rate=30 -t 4 -c:v libx264 -g 30 -bf 0 \
                -pix_fmt yuv420p talk.mp4
            ffmpeg -v error -nostdin -re -stream_loop -1 -i talk.mp4 -c copy -f rtp -payload_type 96 \
                -srtp_out_suite AES_CM_128_HMAC_SHA1_80 -srtp_out_params "$(head -c 30 /dev/urandom | base64)" \
                -sdp_file offer.sdp "srtp://127.0.0.1:$PORT?rtcpport=$PORT&pkt_size=1200" &
            until [ -s offer.sdp ]; do sleep 0.1; done
            grep -q sprop-parameter-sets offer.sdp
            \(Self.post)
            wait
            """)
    }

    @Test(
        "GStreamer publishes with AES-GCM, and with the parameter sets as its encoder sends them",
        .enabled(if: hasGStreamer, "needs GStreamer with its plugins, curl and bash: make test installs them"))
    func galois() async throws {
        try await publish(
            """
            head -c 28 /dev/urandom > key
            cat > offer.sdp <<END
            v=0
            o=- 1 1 IN IP4 127.0.0.1
            s=-
            c=IN IP4 0.0.0.0
            t=0 0
            m=video 9 RTP/SAVP 96
            a=sendonly
            a=rtpmap:96 H264/90000
            a=fmtp:96 packetization-mode=1
            a=crypto:1 AEAD_AES_128_GCM inline:$(base64 < key)
            END
            \(Self.post)
            gst-launch-1.0 -q videotestsrc is-live=true pattern=smpte \
                ! video/x-raw,width=320,height=180,framerate=30/1 \
                ! x264enc tune=zerolatency speed-preset=veryfast key-int-max=30 ! rtph264pay pt=96 mtu=1200 \
                ! srtpenc rtp-cipher=aes-128-gcm rtp-auth=null rtcp-cipher=aes-128-gcm rtcp-auth=null \
                key="$(od -An -v -tx1 key | tr -d ' \\n')" ! udpsink host=127.0.0.1 port="$PORT"
            """)
    }

    private static let post = """
        curl -sS --fail-with-body -H 'Content-Type: application/sdp' --data-binary @offer.sdp -o answer.sdp \
            "http://127.0.0.1:$PORT/whip/demo?name=Bars"
        """

    /// Runs a shell script that publishes as "Bars" in "demo", until enough of its frames were decoded.
    private func publish(_ script: String) async throws {
        let folder = try TemporaryFolder()
        let relay = try await RelayProgram(in: folder)
        let shell = try ChildProcess(
            #require(Programs.installed("bash")), ["-eu", "-o", "pipefail", "-c", script],
            environment: ["PORT": "\(relay.port)"], in: folder)
        do {
            let bars = try await relay.participant("Bars", in: "demo") { $0.uplink.framesDecoded > 60 }
            #expect(bars.uplink.width == 320 && bars.uplink.height == 180)
        } catch {
            Issue.record("\(error); the script wrote: \(shell.errors)")
        }
    }
}

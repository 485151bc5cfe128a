import Compositing
import CongestionControl
import MediaCore
import SecureTransport

/// A conference by GStreamer: each stream decrypted and decoded, all composed, and encoded and encrypted for each
/// receiver, or once for all. The tiles are those of the relay, and so is the SRTP profile. There is no audio.
struct GStreamerPipeline {
    /// The ports at which it receives, and to which it sends.
    var inputs: [UInt16]
    var outputs: [UInt16]
    /// The keys of what it receives and of what it sends, for `profile`.
    var keys: SRTPKeyPair

    /// The profile that the relay and its clients choose.
    static let profile = SRTPProfile.aeadAES128GCM

    /// The arguments of `gst-launch-1.0`.
    var arguments: [String] {
        let elements =
            [composition] + outputs.map(output) + inputs.enumerated().map { input($0.offset, port: $0.element) }
        return elements.joined(separator: " ").split(separator: " ").map(String.init)
    }

    private var composition: String {
        let canvas = Workload.canvas
        let pads = GridLayout.cells(count: inputs.count, canvas: canvas).enumerated().map { index, tile in
            let pad = "sink_\(index)::"
            return "\(pad)xpos=\(tile.x) \(pad)ypos=\(tile.y) \(pad)width=\(tile.width) \(pad)height=\(tile.height)"
        }
        return """
            compositor name=grid background=black latency=20000000 \(pads.joined(separator: " ")) \
            ! video/x-raw,format=I420,width=\(canvas.width),height=\(canvas.height),framerate=\(Workload.frameRate)/1 \
            ! tee name=all
            """
    }

    private func output(to port: UInt16) -> String {
        """
        all. ! queue max-size-buffers=2 leaky=downstream \
        ! x264enc speed-preset=superfast tune=zerolatency threads=1 \
        bitrate=\(Workload.allocation.video.bitsPerSecond / 1000) key-int-max=3000 \
        ! rtph264pay mtu=1200 aggregate-mode=zero-latency config-interval=-1 \
        ! srtpenc key=\(keys.outbound.masterKeyAndSalt.hexadecimal) rtp-cipher=aes-128-gcm \
        rtp-auth=null rtcp-cipher=aes-128-gcm rtcp-auth=null \
        ! udpsink host=127.0.0.1 port=\(port) sync=false
        """
    }

    private func input(_ index: Int, port: UInt16) -> String {
        """
        udpsrc port=\(port) address=127.0.0.1 \
        caps=application/x-srtp,media=video,clock-rate=90000,encoding-name=H264,payload=96,\
        ssrc=(uint)\(RTPLoad.source(of: index)),roc=(uint)0,\
        srtp-key=(buffer)\(keys.inbound.masterKeyAndSalt.hexadecimal),\
        srtp-cipher=aes-128-gcm,srtp-auth=null,srtcp-cipher=aes-128-gcm,srtcp-auth=null \
        ! srtpdec ! rtph264depay ! avdec_h264 max-threads=1 ! queue max-size-buffers=2 leaky=downstream \
        ! grid.sink_\(index)
        """
    }
}

import ArgumentParser
import Compositing
import Conference
import CongestionControl
import MediaCore
import RelayServer
import RoomAPI
import VideoCoding

/// The pictures and bitrates of participants.
struct MediaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Size of the composed picture in pixels, both numbers even. (default: 1280x720)", valueName: "WxH"),
        transform: VideoDimensions.init(option:))
    var canvas = VideoDimensions(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Composed pictures a second, 1 to 60.", valueName: "fps"))
    var frameRate = 30

    @Option(
        help: ArgumentHelp(
            """
            Minimum bitrate of a participant's downlink, with audio, in bit/s: 100k, 2.5M, 800000; at least 30k. \
            (default: 100k)
            """,
            valueName: "rate"),
        transform: BitRate.init(option:))
    var minBitrate = BitRate.kilobits(100)

    @Option(
        help: ArgumentHelp("Bitrate of a participant's downlink at its start. (default: 300k)", valueName: "rate"),
        transform: BitRate.init(option:))
    var startBitrate = BitRate.kilobits(300)

    @Option(
        help: ArgumentHelp("Maximum bitrate of a participant's downlink. (default: 2.5M)", valueName: "rate"),
        transform: BitRate.init(option:))
    var maxBitrate = BitRate.megabits(2.5)

    @Option(
        help: """
            Rate controller of each downlink: confrelay follows the path from frame to frame; google is the one in \
            browsers.
            """)
    var controller = CongestionControllerKind.confrelay

    @Option(
        help: ArgumentHelp(
            "What encodes: auto, software, or vaapi for a GPU.",
            discussion: """
                With auto a GPU encodes where a trial at the start finds it better than software. Where a GPU fails, \
                software goes on.
                """))
    var codec = CodecChoice.software

    @Option(
        help: ArgumentHelp(
            "The GPU's render node, such as /dev/dri/renderD128, or driver:NAME. (default: the first that can)",
            valueName: "device"),
        transform: VAAPIDevice.init(option:))
    var vaapiDevice: VAAPIDevice?

    @Flag(
        help: ArgumentHelp(
            "Decode on a GPU.", discussion: "A stream at which the GPU fails goes on in software."))
    var vaapiDecode = false

    @Flag(
        help: ArgumentHelp(
            "Compose on a GPU.",
            discussion: """
                Where the GPU fails, software composes the very picture, and goes on if it fails again. Pictures that \
                the same GPU decodes or encodes stay in its memory.
                """))
    var vaapiCompose = false

    @Option(help: "H.264 encoder in software: openh264 is fast; x264 takes more time for slightly better pictures.")
    var encoder = EncoderBackEnd.openH264

    @Option(help: "Time that the encoder takes for quality.")
    var encoderPreset = EncoderPreset.balanced

    @Option(
        help: ArgumentHelp(
            "Show participants their own camera in their picture: always, never or auto.",
            discussion: """
                With auto, participants see themselves only if there are too few encoders for a picture each: then all \
                see the same one. A join can choose for itself with the query parameter self-view.
                """))
    var selfView = SelfView.auto

    @Option(
        help: ArgumentHelp(
            "Forward a sender's packets unchanged to a receiver that sees or hears only that sender: auto or off.",
            discussion: "With off, the relay decodes, composes and encodes every picture and mixes all audio."))
    var forwarding = ForwardingMode.auto

    @Option(
        help: """
            Show names, muted microphones and the active speaker in the picture: on or off.
            """)
    var labels = Switch.on

    @Option(
        help: ArgumentHelp(
            "Send smaller or fewer pictures if the bitrate is too low for full ones: on or off.",
            discussion: "With off, every receiver gets the whole canvas at the full frame rate, even if it is poor."))
    var ladder = Switch.on

    @Option(
        help: ArgumentHelp(
            "Duration of layout changes: 300ms, 0.5s, or off to change at once. (default: 300ms)",
            valueName: "time"),
        transform: Duration.init(transition:))
    var transition = TransitionStyle.standard.duration

    @Option(
        help: ArgumentHelp(
            "Folder of PNG images for templates and overlays, which name them without .png.", valueName: "DIR"))
    var images: String?

    static func check(_ canvas: VideoDimensions) throws {
        guard canvas.width.isMultiple(of: 2), canvas.height.isMultiple(of: 2),
            (64...4096).contains(canvas.width), (64...4096).contains(canvas.height)
        else {
            throw ValidationError("--canvas \(canvas) is not possible: both numbers must be even and from 64 to 4096")
        }
    }

    var rateLimits: RateLimits {
        RateLimits(minimum: minBitrate, start: startBitrate, maximum: maxBitrate)
    }

    func validate() throws {
        try Self.check(canvas)
        guard (1...60).contains(frameRate) else {
            throw ValidationError("--frame-rate \(frameRate) is not possible: choose 1 to 60 pictures a second")
        }
        guard minBitrate >= .kilobits(30), minBitrate <= startBitrate, startBitrate <= maxBitrate else {
            throw ValidationError(
                "bitrates must rise from --min-bitrate (\(minBitrate), at least 30k) over --start-bitrate "
                    + "(\(startBitrate)) to --max-bitrate (\(maxBitrate))")
        }
    }
}

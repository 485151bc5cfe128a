import ArgumentParser
import ConferenceClient
import CongestionControl
import LinkEmulation
import MediaCore
import SecureTransport
import VideoCoding

/// The options that `join` and `load` have in common.
struct MediaOptions: ParsableArguments {
    @Argument(help: "The room, such as http://127.0.0.1:7000/rooms/demo, or by https.")
    var url: String

    @OptionGroup
    var access: AccessOptions

    @Option(help: ArgumentHelp("PIN of the room, where it has one.", valueName: "pin"))
    var pin: String?

    @Option(
        help: ArgumentHelp(
            "Video to send: synthetic, none, or a file: .h264 (sent unchanged), .mp4 or .y4m (encoded again).",
            valueName: "synthetic|none|FILE"))
    var video = "synthetic"

    @Option(help: ArgumentHelp("Audio to send: tone, none, or a WAV file.", valueName: "tone|none|FILE"))
    var audio = "tone"

    @Option(
        help: """
            Size of the sent video, such as 1280x720: even sides of 16 to 4096. Default: the file's own, or 640x360 \
            for synthetic video.
            """)
    var size: SizeArgument?

    @Option(help: "Frames per second of synthetic video and raw H.264 files.")
    var frameRate: Double = 30

    @Flag(
        inversion: .prefixedNo,
        help:
            "Encode files again, so that they follow the network. Default: all files but raw H.264."
    )
    var reencode: Bool?

    @Flag(
        inversion: .prefixedNo,
        help:
            "Send pictures no larger than their tile, at no more than the bitrate that the relay asks for."
    )
    var followDemand = true

    @Option(help: ArgumentHelp("Show this client's own camera. Default: the relay's.", valueName: "never|always"))
    var selfView: SelfViewArgument?

    @Option(help: ArgumentHelp("Emulate a slow uplink: \(LinkProfile.syntax).", valueName: "link"))
    var uplink: String?

    @Option(help: ArgumentHelp("Emulate a slow downlink, likewise.", valueName: "link"))
    var downlink: String?

    @Option(help: ArgumentHelp("Write the measurements as JSON; -: to standard output.", valueName: "FILE.json"))
    var stats: StatisticsOutput?

    @Option(help: ArgumentHelp("Record what is received; with load, the first client's part.", valueName: "FILE.mp4"))
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Write the last received picture; with load, by the first client if it decodes.", valueName: "FILE.png"))
    var snapshot: String?

    @Option(help: ArgumentHelp("Time to stay, such as 20, 90s or 5min. Default: until Ctrl-C.", valueName: "time"))
    var duration: DurationArgument?

    @Option(
        help: "Transport of media: dtls, as browsers (ICE, DTLS-SRTP); or sdes, with keys in the offer.")
    var transport: ClientTransport = .dtls

    @Option(help: "With --transport sdes: offer only this SRTP suite. Default: both, AEAD_AES_128_GCM preferred.")
    var suite: SuiteArgument?

    @Option(help: "H.264 encoder of the sent video.")
    var encoder: EncoderArgument = .openh264

    @Option(
        help:
            """
            Rate controller of the sent media: confrelay follows the path from frame to frame; google is the one in \
            browsers.
            """
    )
    var controller: CongestionControllerKind = .confrelay

    @Option(help: "Seed of emulated losses and of everything else that is random, except keys.")
    var seed: UInt64 = 0

    @Flag(name: .shortAndLong, help: "Print errors only.")
    var quiet = false

    func validate() throws {
        do {
            _ = try RoomURL(url)
            for link in [uplink, downlink] {
                if let link { _ = try LinkProfile(argument: link) }
            }
            if let record { try JoinOptions.check(record, of: "--record", isFor: "mp4") }
            if let snapshot { try JoinOptions.check(snapshot, of: "--snapshot", isFor: "png") }
        } catch {
            // An input that cannot be read has an exit code of its own, when the session is made.
            if case .usage = error { throw ValidationError(error.description) }
        }
        guard (1...60).contains(frameRate) else {
            throw ValidationError("--frame-rate is \(frameRate); use 1 to 60")
        }
        guard suite == nil || transport == .sdes else {
            throw ValidationError("--suite needs --transport sdes; with dtls the handshake chooses the suite")
        }
        guard EncoderArgument.available.contains(encoder) else {
            throw ValidationError("this program was built without \(encoder.rawValue)")
        }
    }

    func makeJoinOptions(name: String, maximumBitRate: BitRate) throws(ClientError) -> JoinOptions {
        var options = JoinOptions(url: try access.roomURL(url), name: name)
        options.pin = pin
        options.video = VideoInput(argument: video)
        options.videoSettings = VideoInputSettings(
            dimensions: size?.dimensions, frameRate: frameRate, reencodes: reencode)
        options.followsDemand = followDemand
        options.audio = AudioInput(argument: audio)
        options.maximumBitRate = maximumBitRate
        options.showsSelfView = selfView.map { $0 == .always }
        options.uplink = if let uplink { try LinkProfile(argument: uplink) } else { nil }
        options.downlink = if let downlink { try LinkProfile(argument: downlink) } else { nil }
        options.transport = transport
        if let suite { options.srtpProfiles = [suite.profile] }
        options.encoder = encoder.backEnd
        options.controller = controller
        options.seed = seed
        options.recordPath = record
        options.snapshotPath = snapshot
        return options
    }
}

import ArgumentParser
import Compositing
import Conference
import CongestionControl
import FlightRecording
import Foundation
import LinkEmulation
import LoadControl
import Logging
import MediaCore
import RelayServer
import RoomAPI
import SecureTransport
import VideoCoding

/// The command line of `confrelay`.
struct ConfrelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay",
        abstract: "A conferencing relay: each participant sends one stream and receives one picture and one mix.",
        discussion: """
            Serves signalling (HTTP) on a TCP port and all media (SRTP) on the UDP port of the same number, until it \
            gets SIGTERM or SIGINT. Then it waits for the calls to end (--drain), says goodbye to everyone and exits \
            with 0.

            Join with: confclient join http://127.0.0.1:7000/rooms/demo --name Ada

            Other commands: confrelay layout shows layouts without a room; confrelay calibrate measures how many \
            participants this machine can serve; confrelay archive makes a film of a recording; confrelay cluster \
            looks at a cluster of relays; confrelay key and confrelay token make keys and tokens. Each has its own --help.

            confrelay config checks and prints files of options (--config): confrelay config --help.

            Exit codes: 0 ended as asked; 64 an option is wrong; 66 a file cannot be read, or the TLS certificate or \
            key, the keys of tokens, or an image cannot be used; 69 the address, port or GPU cannot be used; 70 an \
            internal failure; 73 the folder of recordings, the flight recorder's, the webhooks' queue or the event \
            log cannot be written to; 78 the file of --config is wrong.
            """,
        version: "confrelay \(RelayVersion.current)")

    @OptionGroup(title: "Start and stop")
    var operation: OperationOptions

    @OptionGroup(title: "Network")
    var network: NetworkOptions

    @OptionGroup(title: "Access")
    var access: AccessOptions

    @OptionGroup(title: "Browsers")
    var browsers: BrowserOptions

    @OptionGroup(title: "Picture and bitrate")
    var media: MediaOptions

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @OptionGroup(title: "Recordings")
    var recordings: RecordingOptions

    @OptionGroup(title: "Flight recorder")
    var flightRecorder: FlightRecorderOptions

    @OptionGroup(title: "Events")
    var events: EventOptions

    @OptionGroup(title: "Cluster")
    var cluster: ClusterOptions

    @OptionGroup(title: "Logging")
    var logging: LoggingOptions

    /// The server's configuration from the options.
    var serverConfiguration: RelayServerConfiguration {
        var configuration = RelayServerConfiguration()
        configuration.host = network.host
        configuration.port = network.port
        configuration.publicAddresses = network.publicAddress
        configuration.emulatedDownlink = network.emulateDownlink
        configuration.maximumConnections = limits.maxConnections
        configuration.trustedProxies = network.trustedProxy
        configuration.allowedOrigins = access.allowedOrigins
        configuration.accessKeys = access.authKeys
        configuration.administrationAddress = access.adminAddress
        configuration.tls = browsers.tlsFiles
        configuration.iceServers = browsers.iceServer + browsers.iceServerFile
        configuration.turnSecret = browsers.turnSecret
        configuration.webhooks = events.webhook
        configuration.webhookSigner = events.webhookSecret
        configuration.webhookQueueFolder = events.queueFolder
        configuration.eventLog = events.eventLog
        configuration.cluster = cluster.settings(port: network.port)
        configuration.workers = limits.workers
        configuration.flightRecorderFolder = flightRecorder.flightRecorder
        configuration.flightRecorderLimit = flightRecorder.flightRecorderLimit
        configuration.flightRecorderFiles = flightRecorder.flightRecorderFiles
        configuration.recordings = recordings.settings
        configuration.relay.canvas = media.canvas
        configuration.relay.frameRate = media.frameRate
        configuration.relay.rateLimits = media.rateLimits
        configuration.relay.congestionController = media.controller
        configuration.codec = media.codec
        configuration.vaapiDevice = media.vaapiDevice
        configuration.relay.encoder = media.encoder
        configuration.relay.encoderPreset = media.encoderPreset
        configuration.relay.selfView = media.selfView
        configuration.relay.forwarding = media.forwarding
        configuration.relay.labels = media.labels == .on
        configuration.relay.hasLadder = media.ladder == .on
        configuration.relay.maximumVoices = limits.maxVoices
        configuration.relay.transitions.duration = media.transition
        configuration.imageFolder = media.images
        configuration.relay.maximumEncoders = limits.maxEncoders.count
        configuration.relay.overload = limits.overloadSettings
        configuration.relay.decodeLimits = DecodeLimits(workers: limits.busyWorkers)
        configuration.relay.maximumParticipants = limits.maxParticipants
        configuration.relay.allowsSilentReceivers = limits.allowSilentReceivers
        configuration.relay.idleTimeout = .seconds(limits.idleTimeout)
        return configuration
    }
}

/// The addresses of the relay.
struct NetworkOptions: ParsableArguments {
    @Option(help: "Port for TCP and UDP; 0 picks one that is free for both.")
    var port: UInt16 = 7000

    @Option(
        help: ArgumentHelp(
            "Address to listen on.",
            discussion: """
                127.0.0.1 serves this machine only. 0.0.0.0 (or :: with IPv6) opens the relay to other machines. \
                Offers with SRTP keys in them (a=crypto) are accepted from other machines only by HTTPS or through a \
                TLS proxy.
                """))
    var host = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "IP address that clients send media to; repeatable, one for each address family.",
            discussion: "Needed behind NAT. Default: the address of --host, or this machine's addresses for 0.0.0.0.",
            valueName: "address"),
        transform: TransportAddress.init(option:))
    var publicAddress: [TransportAddress] = []

    @Option(
        help: ArgumentHelp(
            "IP address of a reverse proxy in front of the relay; may be given several times.",
            discussion: """
                One address may hold at most half of all HTTP connections. A reverse proxy stands for many clients and \
                may hold all of them, so it has to limit its clients itself. 127.0.0.1 is trusted only if it is given.
                """,
            valueName: "address"),
        transform: TransportAddress.init(option:))
    var trustedProxy: [TransportAddress] = []

    @Option(
        help: ArgumentHelp(
            "Emulate a slow network from the relay to each participant.",
            discussion: LinkProfile.syntax, valueName: "link"),
        transform: LinkProfile.init(option:))
    var emulateDownlink: LinkProfile?
}

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
            "Minimum bitrate of a participant's downlink, with audio, in bit/s: 100k, 2.5M, 800000. (default: 100k)",
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
            "The GPU's render node, such as /dev/dri/renderD128, or driver:NAME. (default: the first that encodes)",
            valueName: "device"),
        transform: VAAPIDevice.init(option:))
    var vaapiDevice: VAAPIDevice?

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

/// The limits of the relay's work.
struct LimitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Threads that decode, compose, mix and encode; default: one for each core.", valueName: "n"))
    var workers: Int = RelayServerConfiguration().workers

    @Option(
        help: ArgumentHelp(
            "Maximum of video encoders in a room, or 'dedicated': one for each receiver.",
            discussion: """
                With more receivers, those with the same view share an encoder at a common rate. A picture that only \
                one receiver sees needs its own encoder in any case. Default: two for each core.
                """,
            valueName: "n"))
    var maxEncoders = EncoderLimit.forThisMachine

    @Option(
        help: ArgumentHelp(
            "Reduce the cost of pictures, and then refuse joins, before the machine is overloaded: on or off.",
            discussion: """
                The relay measures the machine for a second at its start. GET /readyz and /metrics show how many \
                seats are left.
                """))
    var overloadControl = Switch.on

    @Option(help: ArgumentHelp("Maximum of participants in a room; further joins get 503.", valueName: "n"))
    var maxParticipants = 50

    @Option(
        help: ArgumentHelp("Seconds without an authentic packet until a participant has left.", valueName: "seconds"))
    var idleTimeout = 30

    @Flag(
        help: ArgumentHelp(
            "Send media to receivers that never send a packet, not even RTCP.",
            discussion: """
                For players on other machines whose offers contain keys (a=crypto), such as ffmpeg. The relay cannot \
                notice that such a receiver has gone, and sends media until DELETE. Receivers on this machine need no \
                option.
                """))
    var allowSilentReceivers = false

    /// The settings of overload control; nil if it is off.
    var overloadSettings: OverloadSettings? { overloadControl == .on ? OverloadSettings(workers: busyWorkers) : nil }

    /// Workers that have a processor each.
    var busyWorkers: Int { min(workers, ProcessInfo.processInfo.activeProcessorCount) }

    @Option(
        help: ArgumentHelp(
            "Maximum of simultaneous HTTP connections; one address may hold at most half of them.", valueName: "n"))
    var maxConnections = RelayServerConfiguration().maximumConnections

    @Option(
        help: ArgumentHelp(
            "Maximum of people who are heard at once: the loudest.", valueName: "n"))
    var maxVoices = 6

    func validate() throws {
        guard (1...1024).contains(workers) else {
            throw ValidationError("--workers \(workers) is not possible: choose 1 to 1024 threads")
        }
        guard (1...1000).contains(maxParticipants) else {
            throw ValidationError("--max-participants \(maxParticipants) is not possible: choose 1 to 1000")
        }
        guard (1...1000).contains(maxVoices) else {
            throw ValidationError("--max-voices \(maxVoices) is not possible: choose 1 to 1000")
        }
        guard (16...16_384).contains(maxConnections) else {
            throw ValidationError("--max-connections \(maxConnections) is not possible: choose 16 to 16384")
        }
        guard (1...86_400).contains(idleTimeout) else {
            throw ValidationError("--idle-timeout \(idleTimeout) is not possible: choose 1 to 86400 seconds")
        }
    }
}

/// The recording of each participant's congestion controller.
struct FlightRecorderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record the inputs and decisions of each downlink's controller, a file per participant in this folder.",
            discussion: "confsim record-replay runs a controller on such a file again (docs/flight-recorder.md).",
            valueName: "DIR"))
    var flightRecorder: String?

    @Option(
        help: ArgumentHelp(
            "Maximum size of such a file; the recording ends there. (default: 64MB)", valueName: "size"),
        transform: DataSize.init(option:))
    var flightRecorderLimit = FlightRecorder.defaultLimit

    @Option(
        help: ArgumentHelp(
            "Maximum of recordings in the folder; the oldest complete ones are removed.", valueName: "n"))
    var flightRecorderFiles = RelayServerConfiguration().flightRecorderFiles

    func validate() throws {
        guard (1...1_000_000).contains(flightRecorderFiles) else {
            throw ValidationError("--flight-recorder-files \(flightRecorderFiles) is not possible: choose 1 to 1000000")
        }
        guard flightRecorderLimit >= DataSize(bytes: 10_000) else {
            throw ValidationError("--flight-recorder-limit is too small: give 10kB at least")
        }
    }
}

/// The messages on standard error.
struct LoggingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Least severe messages to log: trace, debug, info, notice, warning, error or critical. (default: notice)",
            valueName: "level"),
        transform: Logger.Level.init(option:))
    var logLevel = Logger.Level.notice

    @Option(help: "Format of the log: text, or json with one object a line.")
    var logFormat = LogFormat.text
}

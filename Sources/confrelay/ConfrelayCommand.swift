import ArgumentParser
import Compositing
import Conference
import RelayServer
import SecureTransport

/// The command line of `confrelay`.
struct ConfrelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "confrelay",
        abstract: "A conferencing relay: each participant sends one stream and receives one picture and one mix.",
        discussion: """
            Serves signalling (HTTP) on a TCP port and all media (SRTP) on the UDP port of the same number, until it \
            gets SIGTERM or SIGINT. Then it waits for the calls to end (--drain), says goodbye to everyone and exits \
            with 0. A second signal ends the wait for the calls; a further one ends the relay at once.

            Join with: confclient join http://127.0.0.1:7000/rooms/demo --name Ada

            Other commands: confrelay layout shows layouts without a room; confrelay calibrate measures how many \
            participants this machine can serve; confrelay archive makes a film of a recording; confrelay cluster \
            looks at a cluster of relays; confrelay key and confrelay token make keys and tokens. Each has its own \
            --help.

            confrelay config checks and prints files of options (--config): confrelay config --help.

            Exit codes: 0 ended as asked; 64 an option is wrong, or a file that it names; 66 the file of --config, a \
            certificate or its key, the keys of tokens, or an image cannot be read or used; 69 the address, port or \
            GPU cannot be used; 70 an internal failure; 73 the folder of recordings, the flight recorder's, the \
            webhooks' queue or the event log cannot be written to; 78 the file of --config is wrong; 130 or 143 \
            SIGINT or SIGTERM came again during the end.
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

    @OptionGroup(title: "Streams")
    var streams: StreamOptions

    @OptionGroup(title: "Flight recorder")
    var flightRecorder: FlightRecorderOptions

    @OptionGroup(title: "Events")
    var events: EventOptions

    @OptionGroup(title: "Cluster")
    var cluster: ClusterOptions

    @OptionGroup(title: "Logging")
    var logging: LoggingOptions

    func validate() throws {
        for (option, port) in [("--rtmp-port", streams.rtmpPort), ("--srt-port", streams.srtPort)] {
            guard let port, port > 0, port == network.port else { continue }
            throw ValidationError("\(option) \(port) is not possible: it is the relay's own --port; choose another")
        }
        if let address = access.adminAddress, address.port == network.port,
            let own = TransportAddress(host: network.host, port: network.port),
            Self.isListening(own, at: address) || Self.isListening(address, at: own)
        {
            throw ValidationError(
                "--admin-address \(address) is not possible: the relay's own --port is there; choose another port")
        }
    }

    /// Returns true if what listens at an address listens at another one, too: 0.0.0.0 is all addresses of IPv4, and ::
    /// those of IPv6 as well.
    private static func isListening(_ address: TransportAddress, at other: TransportAddress) -> Bool {
        let (address, other) = (address.unmapped, other.unmapped)
        return address == other || (address.isUnspecified && (address.isIPv6 || !other.isIPv6))
    }

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
        configuration.traceCollector = events.traceCollector
        configuration.reportsToAgones = cluster.agones
        configuration.cluster = cluster.settings(port: network.port)
        configuration.workers = limits.workers
        configuration.flightRecorderFolder = flightRecorder.flightRecorder
        configuration.flightRecorderLimit = flightRecorder.flightRecorderLimit
        configuration.flightRecorderFiles = flightRecorder.flightRecorderFiles
        configuration.recordings = recordings.settings
        streams.apply(to: &configuration)
        configuration.relay.canvas = media.canvas
        configuration.relay.frameRate = media.frameRate
        configuration.relay.rateLimits = media.rateLimits
        configuration.relay.congestionController = media.controller
        configuration.codec = media.codec
        configuration.decodesOnDevice = media.vaapiDecode
        configuration.composesOnDevice = media.vaapiCompose
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

public import Conference
import FlightRecording
public import LinkEmulation
public import MediaCore
import NIOCore
public import RoomMedia
public import SecureTransport
public import VideoCoding

/// The settings of a server and its relay.
public struct RelayServerConfiguration: Sendable {
    /// The address to listen on, for signalling and media alike: an IPv4 or IPv6 literal, or a name that resolves to
    /// an address of this machine. `0.0.0.0` and `::` stand for every address.
    public var host = "127.0.0.1"
    /// The port, of TCP for signalling and of UDP for media; zero picks one that is free for both.
    public var port: UInt16 = 7000
    /// The media addresses in answers; their ports are not used. Empty: the address listened on, or every address of
    /// this machine for a wildcard.
    public var publicAddresses: [TransportAddress] = []
    /// Connections to the signalling server that are served at the same time. One client address may hold as many as
    /// are free, which is half of them at most.
    public var maximumConnections = 512
    /// The addresses of reverse proxies, each of which may hold all connections.
    public var trustedProxies: [NetworkPrefix] = []
    /// Pages of other sites that may use the relay through their visitors' browsers.
    public var allowedOrigins = AllowedOrigins.only([])
    /// The file of the keys that tokens are signed with; nil: no tokens are asked for.
    public var accessKeys: String?
    /// Where `/metrics`, the list of rooms and debug views are served, and nowhere else; nil: where all is.
    public var administrationAddress: TransportAddress?
    /// The certificate and key of HTTPS; nil for plain HTTP.
    public var tls: TLSFiles?
    /// The STUN and TURN servers that joining clients get (RFC 9725, section 4.6).
    public var iceServers: [ICEServer] = []
    /// The secret from which credentials of TURN servers without credentials are made; nil if all have some.
    public var turnSecret: TURNSecret?
    /// Where events are posted to.
    public var webhooks: [WebhookEndpoint] = []
    /// Signs requests; nil: nothing is posted.
    public var webhookSigner: WebhookSigner?
    /// The folder in which events wait for webhooks, which need not be there.
    public var webhookQueueFolder = "webhooks"
    /// The file that events are added to; nil for none.
    public var eventLog: String?
    /// The base URL of an OpenTelemetry collector that gets traces of joins; nil for none.
    public var traceCollector: String?
    /// True if Agones is told how the relay is.
    public var reportsToAgones = false
    /// Threads that decode, compose, mix and encode.
    public var workers = System.coreCount
    /// The properties of an emulated link to each address, to see calls on a slow network; nil for none.
    public var emulatedDownlink: LinkProfile?
    /// The folder that each participant's downlink is recorded in, which need not be there; nil for none.
    public var flightRecorderFolder: String?
    /// The largest size of a recording's file.
    public var flightRecorderLimit = FlightRecorder.defaultLimit
    /// Recordings that the folder holds; the oldest complete ones are removed.
    public var flightRecorderFiles = 1000
    /// The folder of the images that templates and overlays may name; nil for those of `relay`.
    public var imageFolder: String?
    /// The processor time that is spent at the start, in the background, on measuring the machine for the relay's
    /// overload control, if it has one.
    public var calibrationLimit = Duration.milliseconds(800)
    /// The choice between encoders of a device and of software; see `RelayConfiguration.hardware`, which the server
    /// fills in.
    public var codec = CodecChoice.software
    /// True if a device decodes; see `RelayConfiguration.decodingDevice`, which the server fills in.
    public var decodesOnDevice = false
    /// True if a device composes; see `RelayConfiguration.composingDevice`, which the server fills in.
    public var composesOnDevice = false
    /// The device; nil: the first that encodes, the first that decodes, and the first that composes.
    public var vaapiDevice: VAAPIDevice?
    /// Where recordings are kept; nil: nothing is recorded.
    public var recordings: RecordingSettings?
    /// True if rooms may be watched as live streams.
    public var servesStreams = false
    /// The hosts that rooms may be sent to; nil: rooms are sent nowhere.
    public var outputs: HostRules?
    /// Where films and streams that become members of rooms may come from; nil: nowhere.
    public var players: PlayerRules?
    /// The ports on which streams are taken by RTMP (TCP) and by SRT (UDP); nil: none are.
    public var rtmpPort: UInt16?
    public var srtPort: UInt16?
    /// The cluster of relays that this one belongs to; nil: none.
    public var cluster: ClusterSettings?
    /// The settings of the relay. The server sets the media addresses in it.
    public var relay = RelayConfiguration()

    public init() {}
}

public import Conference
import FlightRecording
public import LinkEmulation
public import MediaCore
import NIOCore
public import SecureTransport

/// Where a server listens and what its relay does.
public struct RelayServerConfiguration: Sendable {
    /// The address to listen on, for signalling and media alike: an IPv4 or IPv6 literal, or a name that resolves to
    /// an address of this machine. `0.0.0.0` and `::` stand for every address.
    public var host = "127.0.0.1"
    /// The port, of TCP for signalling and of UDP for media; zero picks one that is free for both.
    public var port: UInt16 = 7000
    /// The addresses that answers name for media; their ports are not used. Empty: the address listened on, or every
    /// address of this machine where that is a wildcard.
    public var publicAddresses: [TransportAddress] = []
    /// Connections to the signalling server that are served at the same time. One client address may hold as many as
    /// are free, which is half of them at most.
    public var maximumConnections = 512
    /// The addresses of reverse proxies, each of which may hold all connections; their ports are not used.
    public var trustedProxies: [TransportAddress] = []
    /// What to serve HTTPS with; nil for plain HTTP.
    public var tls: TLSFiles?
    /// The servers that those who join are told to find their way with (RFC 9725, section 4.6).
    public var iceServers: [ICEServer] = []
    /// Threads that decode, compose, mix and encode.
    public var workers = System.coreCount
    /// A link that what is sent to each address passes first, to see how calls fare on a slow network; nil for none.
    public var emulatedDownlink: LinkProfile?
    /// The folder that each participant's downlink is recorded in, which need not be there; nil for none.
    public var flightRecorderFolder: String?
    /// What a recording's file may grow to.
    public var flightRecorderLimit = FlightRecorder.defaultLimit
    /// Recordings that the folder holds; the oldest complete ones are removed.
    public var flightRecorderFiles = 1000
    /// The folder of the images that templates and overlays may name; nil for those that `relay` has.
    public var imageFolder: String?
    /// How much processor time is spent at the start, in the background, on measuring the machine for the relay's
    /// overload, where it has one.
    public var calibrationLimit = Duration.milliseconds(800)
    /// What the relay does. The media addresses in it are the server's to fill in.
    public var relay = RelayConfiguration()

    public init() {}
}

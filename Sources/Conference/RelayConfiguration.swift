public import Compositing
public import CongestionControl
public import FlightRecording
public import LoadControl
public import MediaCore
public import RoomAPI
public import SecureTransport
public import VideoCoding

/// What a relay is told when it starts.
public struct RelayConfiguration: Sendable {
    /// Size of the composed picture; both even.
    public var canvas = VideoDimensions(width: 1280, height: 720)
    /// Composed pictures a second.
    public var frameRate = 30
    /// Bounds of each participant's downlink, audio included. It starts low: a first keyframe and probes at several
    /// times the start must not fill a slow path's queue, and a fast path is found within a second or two.
    public var rateLimits = RateLimits(
        minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(2500))
    /// What decides how much is sent to each participant.
    public var congestionController = CongestionControllerKind.confrelay
    /// Makes what records the controller of a participant's downlink; nil, or nil from it, where nothing is recorded.
    /// It is called on the relay's loop, which it must not keep waiting.
    public var makeFlightRecorder: (@Sendable (FlightHeader) -> FlightRecorder?)?
    /// Whether who sees one source alone, unchanged, is sent its sender's own packets where they fit.
    public var forwarding = ForwardingMode.auto
    public var encoder = EncoderBackEnd.openH264
    /// Makes encoders of one's own for pictures of a size, on the worker that then calls them; nil: compression
    /// sessions of `encoder`, whose abilities one's own encoders are taken to have.
    public var makeEncoder:
        (@Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding)?
    public var encoderPreset = EncoderPreset.balanced
    /// Encoders that a room runs at most, nil for one for each receiver. Where there are more receivers, those who see
    /// the same share one: see `EncodeGroupPlanner`. A picture that nobody else sees needs one of its own in any case.
    public var maximumEncoders: Int?
    /// What saves time before the machine has too little of it; nil: nothing does, and joins are not refused for it.
    public var overload: OverloadSettings?
    /// How much is decoded, of one member and of all. What is beyond it is dropped before it is decoded, and the sender
    /// is asked for less.
    public var decodeLimits = DecodeLimits(workers: 8)
    /// The most of a shared encoder's rate that keyframes take.
    public var sharedKeyframeShare = 0.05
    /// Whether pictures are composed and encoded smaller, or fewer a second, where the rate does not make good ones of
    /// the canvas.
    public var hasLadder = true
    /// How many voices are mixed at once at most: the loudest.
    public var maximumVoices = 6
    /// Participants a room takes; the next join is refused.
    public var maximumParticipants = 50
    /// Rooms the relay keeps at once; a join that would make another is refused.
    public var maximumRooms = 200
    /// A participant from whom nothing authentic arrived for so long has left. Those whose path ICE found leave with
    /// the consent to send to them, after 30 s (RFC 7675).
    public var idleTimeout = Duration.seconds(30)
    /// A receiver with its keys in the session description that has been silent for so long is sent nothing until
    /// something authentic comes from it.
    public var silenceLimit = Duration.seconds(15)
    /// Whether receivers that never send a packet are sent media all the same, for as long as they stay. Those whose
    /// offer came from a loopback address, and names one, are in any case.
    public var allowsSilentReceivers = false
    /// The media addresses that answers name. The first one of the offer's address family is used.
    public var mediaAddresses: [TransportAddress] = []
    /// What the relay shows in DTLS handshakes; without it offers of DTLS-SRTP are refused.
    public var certificate: DTLSCertificate?
    public var selfView = SelfView.auto
    /// Whether each tile has a label with the participant's name, and a border while they speak.
    public var labels = true
    /// How pictures change when someone comes, goes, speaks or presents, or another layout is chosen.
    public var transitions = TransitionStyle.standard
    /// The images that templates and overlays name.
    public var images = ImageLibrary()
    /// Makes a compositor of one's own for a room in which somebody begins to look, on the worker that then calls it;
    /// nil: `LayerCompositor`.
    public var makeCompositor: (@Sendable () -> any VideoCompositing)?
    /// A source that has sent no frame for so long is dimmed.
    public var staleAfter = Duration.seconds(1)
    /// A source that has sent no frame for so long becomes a placeholder.
    public var silentAfter = Duration.seconds(6)

    public init() {}
}

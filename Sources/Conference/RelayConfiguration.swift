public import Compositing
public import CongestionControl
public import FlightRecording
public import LoadControl
public import MediaCore
public import RoomAPI
public import SecureTransport
public import VideoCoding

/// The settings of a relay, which hold for all of its rooms and for as long as it runs.
public struct RelayConfiguration: Sendable {
    /// The size of the composed picture; both sides are even.
    public var canvas = VideoDimensions(width: 1280, height: 720)
    /// The number of composed pictures per second.
    public var frameRate = 30
    /// The limits of each participant's downlink, audio included. The start is low: a first keyframe and probes at
    /// several times the start rate must not fill a slow path's queue, and a fast path is found within a second or two.
    public var rateLimits = RateLimits(
        minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(2500))
    /// The controller of the rate to each participant.
    public var congestionController = CongestionControllerKind.confrelay
    /// Makes the recorder of a participant's downlink; nil, or a nil result, records nothing. It is called on the
    /// relay's loop, which it must not block.
    public var makeFlightRecorder: (@Sendable (FlightHeader) -> FlightRecorder?)?
    /// The policy of forwarding a sender's own packets to receivers that see only that source, unchanged.
    public var forwarding = ForwardingMode.auto
    /// The library that encodes in software.
    public var encoder = EncoderBackEnd.openH264
    /// The device that encodes, where there is one; `encoder` encodes while it cannot.
    public var hardware: VAAPIDeviceReport?
    /// The device that decodes; nil: software does. A stream whose device fails goes on in software.
    public var decodingDevice: VAAPIDevice?
    /// The device that composes; nil: software does. A room whose device fails goes on in software for a while.
    public var composingDevice: VAAPIDevice?
    /// Counts pictures that were left on a device, for its next stage, and copied into memory after all.
    public var surfaceCopies = SurfaceCopyCounter()
    /// Makes custom encoders for pictures of a size, on the worker that then calls them; nil: compression sessions of
    /// `encoder`. Custom encoders are assumed to have the abilities of `encoder`.
    public var makeEncoder:
        (@Sendable (VideoDimensions, CompressionProperties) throws(VideoCodingError) -> any PictureEncoding)?
    public var encoderPreset = EncoderPreset.balanced
    /// The largest number of encoders of a room; nil for one per receiver. If there are more receivers, those with the
    /// same view share: see `EncodeGroupPlanner`. A picture that only one receiver sees needs its own encoder in any
    /// case.
    public var maximumEncoders: Int?
    /// The settings of overload control; nil: the relay saves no time, and refuses no joins for lack of it.
    public var overload: OverloadSettings?
    /// The limits of decoding, for one member and for all. Frames beyond them are dropped before decoding, and the
    /// sender is asked for less.
    public var decodeLimits = DecodeLimits(workers: 8)
    /// The most of a shared encoder's rate that keyframes take.
    public var sharedKeyframeShare = 0.05
    /// True if pictures may be smaller, or fewer a second, when the rate is too low for the canvas.
    public var hasLadder = true
    /// The largest number of voices in the mix: the loudest.
    public var maximumVoices = 6
    /// Participants a room takes; the next join is refused.
    public var maximumParticipants = 50
    /// Rooms the relay keeps at once; a join that would make another is refused.
    public var maximumRooms = 200
    /// A participant without an authentic packet for this long has left. One that only receives sends RTCP, at least
    /// every 7.5 s. Participants whose path ICE found leave when the consent to send ends (`ICETiming`).
    public var idleTimeout = Duration.seconds(30)
    /// A receiver with its keys in the session description that has been silent for this time is sent nothing until
    /// something authentic comes from it.
    public var silenceLimit = Duration.seconds(15)
    /// True if receivers that never send a packet get media for as long as they stay. Receivers whose offer came from a
    /// loopback address, and names one, always do.
    public var allowsSilentReceivers = false
    /// The media addresses that answers name at first. The first one of the offer's address family is used.
    public var mediaAddresses: [TransportAddress] = []
    /// The certificate of DTLS handshakes; without it, offers of DTLS-SRTP are refused.
    public var certificate: DTLSCertificate?
    public var selfView = SelfView.auto
    /// True if tiles have labels with the participants' names, and borders while they speak.
    public var labels = true
    /// The style of changes when participants come, leave, speak or share a screen, or the layout changes.
    public var transitions = TransitionStyle.standard
    /// The images that templates and overlays name.
    public var images = ImageLibrary()
    /// Makes a custom compositor for a room that gets its first viewer, on the worker that then calls it; nil:
    /// `LayerCompositor`.
    public var makeCompositor: (@Sendable () -> any VideoCompositing)?
    /// A camera that has sent no frame for this time, or for twice the time from one of its pictures to the next if
    /// that is longer, is dimmed.
    public var staleAfter = Duration.seconds(1)
    /// A camera that has sent no frame for this time becomes a placeholder.
    public var silentAfter = Duration.seconds(6)

    public init() {}

    /// The most that a participant is sent, and the bitrate of composites for which none is chosen.
    public var maximumBitRate: BitRate { rateLimits.maximum }
}

extension RelayConfiguration {
    /// True if shared encoders make temporal layers, on the device that encodes, if there is one, and in software.
    var makesTemporalLayers: Bool {
        encoder.hasTemporalLayers && hardware.map { $0.temporalLayers > 1 } ?? true
    }

    /// The counter of decoded pictures that stay on the device, as it composes them; nil: none does.
    var copiesOfDecoded: SurfaceCopyCounter? {
        decodingDevice != nil && decodingDevice == composingDevice ? surfaceCopies : nil
    }

    /// The counter of composed pictures that stay on the device, as it encodes them; nil: none does.
    var copiesOfComposed: SurfaceCopyCounter? {
        composingDevice != nil && composingDevice == hardware?.device ? surfaceCopies : nil
    }
}

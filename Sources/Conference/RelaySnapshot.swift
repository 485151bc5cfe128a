public import Compositing
public import LoadControl
public import MediaCore
public import PeerConnection
public import RoomAPI

/// The state of a relay at one moment, for `GET /rooms` and `/metrics`. Rates are in bits per second, times in
/// milliseconds; counters begin with the relay, room or participant.
public struct RelaySnapshot: Encodable, Sendable {
    public var rooms: [RoomSnapshot] = []
    public var datagrams = DatagramCounters()
    public var joins = JoinCounters()
    /// True if joins are refused until the relay ends.
    public var isDraining = false
    /// The state of overload control; nil without it.
    public var overload: OverloadSnapshot?
    /// The use of the decode budget.
    public var decoding = DecodeBudgetSnapshot()
    /// The work of devices that compose.
    public var composing = DeviceCompositionSnapshot()
    /// Pictures that were copied between memory and devices.
    public var copies = DeviceCopies()
}

/// Pictures that were copied between memory and devices that decode, compose or encode.
public struct DeviceCopies: Encodable, Hashable, Sendable {
    public var toDevice: UInt64 = 0
    public var fromDevice: UInt64 = 0
}

/// The pictures of rooms that a device composed, and its failures.
public struct DeviceCompositionSnapshot: Encodable, Hashable, Sendable {
    /// Pictures that a device composed.
    public var pictures: UInt64 = 0
    /// Its failures, after each of which software composed the picture.
    public var faults: UInt64 = 0

    mutating func count(_ work: DeviceComposition) {
        pictures &+= work.pictures
        faults &+= work.faults
    }
}

/// The fate of the datagrams that arrived.
public struct DatagramCounters: Encodable, Sendable {
    /// Datagrams that were authentic and accepted.
    public var accepted: UInt64 = 0
    /// The datagram is of no known kind, or too short.
    public var malformed: UInt64 = 0
    /// Packets from addresses that belong to no participant.
    public var unknown: UInt64 = 0
    /// Datagrams that claimed a known stream and failed authentication.
    public var unauthenticated: UInt64 = 0
    /// RTP and RTCP of members that sent more than they may, dropped before decryption.
    public var rateLimited: UInt64 = 0
    /// Connectivity checks that were authentic and accepted.
    public var checks: UInt64 = 0
    /// STUN that was not: for no session that there is, not authentic, replayed, malformed, or with the wrong role.
    public var checksRefused: UInt64 = 0
    /// DTLS datagrams that an association could use, as far as can be determined before it has authenticated.
    public var handshakes: UInt64 = 0
    /// DTLS that was not: from an address that passed no check, of one handshake too many, replayed, malformed, data,
    /// too much at once, or after the association's end.
    public var handshakesRefused: UInt64 = 0
}

/// A room, as far as it is at this relay.
public struct RoomSnapshot: Encodable, Sendable {
    public var id: String
    public var participants: [ParticipantSnapshot] = []
    /// The participants at other relays of the cluster, whose figures those relays have.
    public var elsewhere: [RemoteParticipantSnapshot] = []
    /// Video ticks whose composition was done.
    public var ticks: UInt64 = 0
    /// Video ticks left out because the one before was still being composed.
    public var missedTicks: UInt64 = 0
    public var composedPictures: UInt64 = 0
    /// The origins of these pictures.
    public var pictures = PictureCounters()
    /// Audio ticks that came late because the one before was still being mixed.
    public var lateAudioTicks: UInt64 = 0
    /// Opus sessions that could not be made, and frames that they did not encode.
    public var audioFailures: UInt64 = 0
    /// The layout for participants without a choice of their own.
    public var layout = RoomLayout.grid
    /// Images, texts and clocks above everybody's picture.
    public var overlays = OverlayList()
    /// The identifier of the participant that speaks, or spoke last.
    public var activeSpeaker: String?
    public var encoding = EncodingSnapshot()
    /// The measures of overload control in force, in a sentence; nil for none.
    public var measures: String?
    /// The receivers of sources' own packets.
    public var forwarding = RoomForwardingSnapshot()
}

/// A participant of the room at another relay of the cluster.
public struct RemoteParticipantSnapshot: Encodable, Hashable, Sendable {
    public var id: String
    public var name: String
    public var role: ParticipantRole
    /// The relay's name in the cluster.
    public var relay: String
}

/// The state of a room's encoders.
public struct EncodingSnapshot: Encodable, Sendable {
    public var groups: [EncodeGroupSnapshot] = []
    public var frames: UInt64 = 0
    public var keyframes: UInt64 = 0
    public var bytes: UInt64 = 0
    public var keyframeBytes: UInt64 = 0
    /// The number of moves of receivers between encoders.
    public var moves: UInt64 = 0
    /// The number of times that an encoder could not be made, or did not encode.
    public var failures: UInt64 = 0
}

/// A group of receivers that share an encoder.
public struct EncodeGroupSnapshot: Encodable, Hashable, Sendable {
    public var id: Int
    /// The identifiers of the group's participants.
    public var members: [String] = []
    /// The target of the encoder.
    public var bitRate: Int64 = 0
    public var width = 0
    public var height = 0
    public var maximumFrameRate = 0
    /// The frames' quantisation parameter over time, 0 (best) to 51; nil until it is known.
    public var qp: Double?
    /// The number of changes of size or frame rate.
    public var rungChanges: UInt64 = 0
}

/// A participant at this relay.
public struct ParticipantSnapshot: Encodable, Sendable {
    public var id: String
    public var name: String
    public var role: String
    /// Seconds since joining.
    public var duration: Double = 0
    public var uplink = UplinkSnapshot()
    public var downlink = DownlinkSnapshot()
    /// The round-trip time, if feedback has shown it.
    public var roundTripTime: Double?
    /// The waits in the relay of the frames that the participant was shown, by stage, and `total`.
    public var latency: [StageSnapshot] = []
    /// The waits of the frames of the participant's camera, shown or not.
    public var uplinkLatency: [StageSnapshot] = []
    /// True if the participant sends audio and its microphone is on.
    public var microphone = false
    /// True if the participant sends video and its camera is on.
    public var camera = false
    /// True if the participant speaks at present.
    public var isSpeaking = false
    public var connection = ConnectionState.new
    /// The participant's own choice of layout; nil: it follows the room.
    public var layout: ParticipantLayout?
    /// True if an avatar replaces the camera.
    public var avatar = false
    /// The sizes in which the participant's pictures are seen now.
    public var tiles: [TileSnapshot] = []
    /// The participant's screen share, while it has one.
    public var screenShare: ScreenShareSnapshot?
}

/// A source's tile. Zero by zero while nobody sees it.
public struct TileSnapshot: Encodable, Hashable, Sendable {
    public var content: SourceContent
    public var width = 0
    public var height = 0
}

/// A screen that a participant shares.
public struct ScreenShareSnapshot: Encodable, Hashable, Sendable {
    public var width = 0
    public var height = 0
    public var framesDecoded: UInt64 = 0
    /// Frames dropped before or by the decoder.
    public var framesDropped: UInt64 = 0
    /// Frames left out on purpose.
    public var framesSkipped: UInt64 = 0
    /// The rate that the sender was asked not to exceed; nil without a limit.
    public var maximumBitRate: Int64?
    /// The part of the stream that is decoded.
    public var skipMode = DecodeSkipMode.full
}

/// The video and audio that a participant sends. Frames, sizes and keyframes are those of the camera.
public struct UplinkSnapshot: Encodable, Sendable {
    public var bitRate: Int64 = 0
    public var packets: UInt64 = 0
    public var packetsLost: Int64 = 0
    public var width = 0
    public var height = 0
    public var framesReceived: UInt64 = 0
    public var framesDecoded: UInt64 = 0
    /// Frames dropped before or by the decoder.
    public var framesDropped: UInt64 = 0
    /// Frames left out on purpose.
    public var framesSkipped: UInt64 = 0
    /// The dropped frames that exceeded the decode budget; the screen share's, too.
    public var framesRefused: UInt64 = 0
    /// The rate of the camera's video that the sender was asked not to exceed; nil without a limit.
    public var maximumBitRate: Int64?
    /// The part of the camera's video that is decoded.
    public var skipMode = DecodeSkipMode.full
    public var keyframes: UInt64 = 0
    public var keyframeRequests: UInt64 = 0
    public var nacks: UInt64 = 0
    /// Packets of forward error correction.
    public var fecPackets: UInt64 = 0
    /// Lost video packets that forward error correction recovered.
    public var packetsRecovered: UInt64 = 0
    /// Frames waiting for the decoder.
    public var decodeQueue = 0
    public var malformedPackets: UInt64 = 0
    /// Packets dropped because the sender sent more than a member may.
    public var packetsRateLimited: UInt64 = 0
    public var audioPackets: UInt64 = 0
    /// Audio payloads taken from later packets that repeat them (RED).
    public var redBlocksUsed: UInt64 = 0
    /// Audio packets that were not decoded, because earlier packets had audio for the same time, or because too much
    /// was decoded lately.
    public var audioPacketsNotDecoded: UInt64 = 0
    /// The audio level in -dBov (0 loudest, 127 silence).
    public var audioLevel: UInt8 = 127
    /// True if decoding has shown that the levels in packets are wrong: the decoded level is used from then on.
    public var audioLevelRefuted = false
    /// The playout delay of audio.
    public var audioDelay: Double = 0
}

/// The video and audio that the relay sends to a participant.
public struct DownlinkSnapshot: Encodable, Sendable {
    /// The target of the congestion controller, audio included.
    public var targetBitRate: Int64 = 0
    /// The target of the encoder.
    public var videoBitRate: Int64 = 0
    public var bitRate: Int64 = 0
    /// True if the network carries too little for video, so that only audio is sent.
    public var videoPaused = false
    public var packets: UInt64 = 0
    /// The fraction of lost packets, 0 to 1.
    public var loss: Double = 0
    public var width = 0
    public var height = 0
    /// Pictures a second that are encoded at most.
    public var maximumFrameRate = 0
    /// The limit of the picture's quality; nil without one.
    public var limit: DownlinkLimit?
    /// The encoder whose frames are sent, by the number of its group; nil before the first.
    public var group: Int?
    /// The target rate of that encoder.
    public var groupBitRate: Int64 = 0
    /// An explanation of the picture, in a sentence.
    public var explanation: String?
    /// True if the participant sees itself because everyone gets the same picture: there is no encoder or no time for
    /// one each.
    public var sharedView = false
    /// The source whose packets are forwarded; nil if the participant gets an encoder's frames.
    public var forwarding: ForwardingSnapshot?
    /// The id of the participant whose packets of audio are sent as they are; nil if the mix is.
    public var audioForwarding: String?
    /// Packets of other senders forwarded as they were.
    public var packetsForwarded: UInt64 = 0
    /// Frames encoded and sent to this participant.
    public var framesEncoded: UInt64 = 0
    /// Frames encoded for others too that were left out for this participant alone.
    public var framesLayerDropped: UInt64 = 0
    /// The number of temporal layers, of three, that were dropped for this participant in the last two seconds.
    public var layersDropped = 0
    /// The number of changes from one encoder's frames to another's.
    public var groupChanges: UInt64 = 0
    /// Ticks at which no frame was encoded for this participant: encoder busy or the pacer's queue full.
    public var framesDropped: UInt64 = 0
    public var keyframes: UInt64 = 0
    public var keyframeRequests: UInt64 = 0
    public var retransmissions: UInt64 = 0
    /// The present repair of losses.
    public var repair = LossRepair.none
    /// The recoveries from losses that were not repaired in time.
    public var recovery = RecoverySnapshot()
    /// Packets of forward error correction.
    public var fecPackets: UInt64 = 0
    /// Audio packets that repeat earlier ones (RED).
    public var redPackets: UInt64 = 0
    /// Bytes waiting in the pacer.
    public var pacerQueue = 0
    /// The congestion controller's state, in one word.
    public var controllerState = ""
}

/// The recoveries of a receiver's picture from losses that were not repaired in time.
public struct RecoverySnapshot: Encodable, Hashable, Sendable {
    /// `keyframe`, `ltr` (a picture that refers to one that has arrived, which the encoder kept) or `intra-refresh`
    /// (each picture renews a part).
    public var method = "keyframe"
    /// The number of pictures sent that refer only to pictures that had arrived.
    public var refreshes: UInt64 = 0
    /// The number of these pictures with which the receiver continued.
    public var refreshesUsed: UInt64 = 0
    /// Losses that needed a keyframe all the same.
    public var keyframes: UInt64 = 0
}

/// A stage of a frame's way through the relay.
public struct StageSnapshot: Encodable, Sendable {
    public var stage: String
    public var histogram: LatencyHistogram

    enum CodingKeys: String, CodingKey {
        case stage, count, meanMilliseconds, p95Milliseconds
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(stage, forKey: .stage)
        try container.encode(histogram.count, forKey: .count)
        try container.encode(histogram.mean?.milliseconds ?? 0, forKey: .meanMilliseconds)
        try container.encode(histogram.quantile(0.95)?.milliseconds ?? 0, forKey: .p95Milliseconds)
    }
}

/// The source whose packets a participant gets.
public struct ForwardingSnapshot: Encodable, Hashable, Sendable {
    /// The identifier of the participant that sends them.
    public var participant: String
    public var content: SourceContent
}

/// All receivers of sources' own packets in a room.
public struct RoomForwardingSnapshot: Encodable, Hashable, Sendable {
    /// The number of receivers that get a source's video packets now.
    public var receivers = 0
    /// The number of receivers that get a source's audio packets now.
    public var audioReceivers = 0
    public var packets: UInt64 = 0
    /// The number of changes between an encoder's frames or the mix and a source's packets.
    public var switches: UInt64 = 0
}

/// Joins that have not become a call, for `GET /metrics`.
public struct JoinCounters: Encodable, Hashable, Sendable {
    /// Participants that have joined over HTTP and have not connected yet.
    public var unconnected = 0
    /// Participants that left because they did not connect in time.
    public var neverConnected: UInt64 = 0
    /// Joins refused because too many before them had not connected.
    public var refusedUnconnected: UInt64 = 0
    /// Participants that left on connecting: the last seat had been taken since they joined.
    public var withoutSeat: UInt64 = 0
}

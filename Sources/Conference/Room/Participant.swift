import MediaCore
import PeerConnection
import RoomAPI
import SDP
import SecureTransport
import VideoCoding

/// One member of a room: its connection, its declared state, and its video pipelines. The room's planes keep everything
/// else about it.
///
/// A member at another relay has no connection of its own here: its sources come by the link to that relay. A player
/// has none at all: its pictures and its audio are handed in.
final class Participant: Endpoint {
    /// The member at its own relay; nil for a participant of this relay.
    var remote: RemoteOrigin?
    /// The film or stream that the member is; nil for people.
    var player: PlayerStatus?
    /// The number of times that it has come from another relay, as far as that is known.
    var moves = 0
    /// The pictures of a player, where others than this relay's viewers want them.
    var playerStream: PlayerStream?
    /// The participant's id in URLs.
    let publicID: String
    let name: String
    let room: String
    let role: ParticipantRole
    /// The participant's role and permissions in the room.
    var grants: MemberGrants
    let joined: MonotonicInstant
    /// The address from which the join came; nil if it is not known.
    let address: TransportAddress?
    /// The address that counts as the client's; nil where that is not known.
    let client: TransportAddress?
    var changeLimits: ParticipantChangeLimits
    /// The last offer and answer.
    var negotiation: Negotiation
    /// The policy of answers to further offers.
    let policy: AnswerPolicy
    /// The camera's pipeline, from its first frame on. It stays when the stream ends, for the next one.
    private(set) var uplink: UplinkPipeline?
    private(set) var screenShare: UplinkPipeline?
    /// Formats of other senders' streams that the participant's decoder takes; nil if it is sent no video.
    private(set) var forwardingAcceptance: ForwardingAcceptance?
    private(set) var hearsMix = false
    private(set) var sendsAudio = false
    private(set) var sendsVideo = false
    private(set) var sendsScreenShare = false
    /// True if the microphone is on, as the participant says; likewise the camera.
    var microphoneIsOn = true
    var cameraIsOn = true
    /// The moderators' decisions.
    var moderation = ModerationState()
    var hasRaisedHand = false
    /// The participant's own choice of layout; nil: it follows the room.
    var layout: ParticipantLayout?
    /// A picture in place of the participant's video while there is none.
    var avatar: Avatar?
    var connection = ConnectionState.new
    /// The summary of which the room's subscribers were informed last.
    var announced: ParticipantSummary?
    /// True from the connection on: the participant counts for the limits of the room and the relay.
    var isSeated = false
    /// True if pictures wait for the participant's first packet, although there is an address for them.
    private(set) var awaitsFirstPacket = true
    /// True if its client takes the seat that it had a moment ago.
    var isReturning = false

    private let selfViewOnJoining: SelfView
    private let hasAskedForSelfView: Bool
    private let mayStaySilent: Bool
    private let queues: (camera: JobQueueID, screenShare: JobQueueID)

    /// - Parameters:
    ///   - mayStaySilent: True if the participant may only receive, and never send a packet.
    ///   - queues: The queues in which the participant's pictures are decoded.
    init(
        id: ParticipantID, publicID: String, name: String, room: String, role: ParticipantRole, grants: MemberGrants,
        selfView: SelfView,
        hasAskedForSelfView: Bool, address: TransportAddress?, client: TransportAddress?, peer: PeerConnection,
        negotiation: Negotiation,
        policy: AnswerPolicy, mayStaySilent: Bool, queues: (camera: JobQueueID, screenShare: JobQueueID),
        now: MonotonicInstant
    ) {
        self.publicID = publicID
        self.name = name
        self.room = room
        self.role = role
        self.grants = grants
        selfViewOnJoining = selfView
        self.hasAskedForSelfView = hasAskedForSelfView
        self.address = address
        self.client = client
        self.negotiation = negotiation
        self.policy = policy
        self.mayStaySilent = mayStaySilent
        self.queues = queues
        joined = now
        changeLimits = ParticipantChangeLimits(now: now)
        super.init(id: id, peer: peer, now: now)
        adoptSession()
    }

    /// The connection whose timer serves the participant's sources: its own, or its relay's link.
    var carrier: Endpoint { remote?.link ?? self }

    /// The content of a source in the session by which it comes.
    func stream(of content: SourceContent) -> NegotiatedMedia.Content {
        remote.map { .relayed($0.lines[content] ?? 0) } ?? content.negotiated
    }

    /// The audio in the session by which it comes.
    var audioStream: NegotiatedMedia.Content { remote.map { .relayed($0.audioLine ?? 0) } ?? .main }

    /// Updates the streams from the session.
    func adoptSession() {
        if let told = remote?.told {
            (sendsAudio, sendsVideo, sendsScreenShare) = (told.sendsAudio, told.sendsVideo, told.sharesScreen)
            return
        }
        if let player {
            (sendsAudio, sendsVideo) = (player.audio, player.video)
            return
        }
        hearsMix = peer.session.audio?.sends ?? false
        sendsAudio = peer.session.audio?.receives ?? false
        sendsVideo = peer.session.video?.receives ?? false
        sendsScreenShare = peer.session.screenShare?.receives ?? false
        uplink?.level = receiveLevel(of: .camera)
        screenShare?.level = receiveLevel(of: .screenShare)
        forwardingAcceptance = peer.session.video.flatMap { $0.sends ? ForwardingAcceptance($0) : nil }
    }

    var selfView: SelfView { layout?.selfView ?? selfViewOnJoining }

    /// True if the participant may see itself when the relay has no time for pictures without it: false if the join
    /// asked never to.
    var maySeeSelf: Bool {
        selfView == .auto || (selfView == .never && !hasAskedForSelfView && layout?.selfView == nil)
    }

    /// Returns the pipeline of a source, and makes it if there is none; nil if the session has no such stream.
    ///
    /// - Parameters:
    ///   - budget: The budget that all decoders of the relay share.
    ///   - device: Decodes in place of the processor; nil: none.
    ///   - surfaceCopies: Of pictures that stay on the device; nil: none do.
    func makePipeline(
        for content: SourceContent, budget: DecodeBudget, device: VAAPIDevice? = nil,
        surfaceCopies: SurfaceCopyCounter? = nil
    ) -> UplinkPipeline? {
        func make(_ source: SourceID, queue: JobQueueID) -> UplinkPipeline {
            let pipeline = UplinkPipeline(
                source: source, queue: queue, budget: budget, device: device, surfaceCopies: surfaceCopies)
            pipeline.level = receiveLevel(of: source.content)
            return pipeline
        }
        switch content {
        case .camera:
            guard sendsVideo else { return nil }
            if uplink == nil { uplink = make(.camera(id), queue: queues.camera) }
            return uplink
        case .screenShare:
            guard sendsScreenShare else { return nil }
            if screenShare == nil { screenShare = make(.screenShare(id), queue: queues.screenShare) }
            return screenShare
        }
    }

    private func receiveLevel(of content: SourceContent) -> H264Level? {
        guard remote == nil, player == nil else { return nil }
        let media = content == .camera ? peer.session.video : peer.session.screenShare
        return media?.receiveLevel.map { H264Level(negotiated: $0) }
    }

    /// Asks the source of a stream for a keyframe.
    func wantKeyframe(_ content: SourceContent, now: MonotonicInstant) {
        playerStream?.needsKeyframe = true
        peer.wantKeyframe(stream(of: content), now: now)
    }

    /// The way up of a source that has begun.
    func pipeline(for content: SourceContent) -> UplinkPipeline? {
        switch content {
        case .camera: uplink
        case .screenShare: screenShare
        }
    }

    /// Returns true if the participant has a tile of this content, or may get one.
    func sends(_ content: SourceContent) -> Bool {
        switch content {
        case .camera: isSource
        case .screenShare: sharesScreen
        }
    }

    /// True if a screen of the participant is shown.
    var sharesScreen: Bool { sendsScreenShare && isAdmitted(.screenShare) && screenShare?.newest != nil }

    /// True if the participant's audio is heard, if there is any.
    var isMicrophoneAdmitted: Bool { grants.permissions.contains(.microphone) && !moderation.isMuted }

    /// Returns true if a stream of the participant is shown, if there is one.
    func isAdmitted(_ content: SourceContent) -> Bool {
        switch content {
        case .camera: grants.permissions.contains(.camera) && !moderation.isCameraOff
        case .screenShare: grants.permissions.contains(.screen)
        }
    }

    /// True if the microphone is on, and may be.
    var isHeard: Bool { microphoneIsOn && isMicrophoneAdmitted }

    /// True if the camera is on, and may be.
    var isCameraShown: Bool { cameraIsOn && isAdmitted(.camera) }

    /// True if the participant has a tile: it may send video or audio.
    var isSource: Bool { sendsVideo || sendsAudio }

    /// The rights that the participant keeps when its client joins again, and its raised hand.
    struct Rights {
        var grants: MemberGrants
        var moderation: ModerationState
        var hasRaisedHand = false
    }

    var rights: Rights { Rights(grants: grants, moderation: moderation, hasRaisedHand: hasRaisedHand) }

    func adopt(_ rights: Rights) {
        grants = rights.grants
        moderation = rights.moderation
        hasRaisedHand = rights.hasRaisedHand
    }

    /// Takes over what moderators have done to the member that the participant was at another relay of the room.
    func adoptModeration(of former: CascadeState.Member) {
        moderation = ModerationState(isMuted: former.muted, isCameraOff: former.cameraOff)
        guard let role = former.accessRole, role != grants.role else { return }
        grants.role = role
        grants.permissions = role.permissions
    }

    /// True if the participant has a seat, or takes its former one when it connects. A member at another relay has its
    /// seat there.
    var holdsSeat: Bool { isSeated || isReturning || remote != nil }

    /// True if the client has proved that it has the keys, or need not. ICE checks alone do not count.
    var isConnected: Bool { peer.hasProvedKeys || isSilentReceiver }

    var mayBeSentPictures: Bool { isSeated || (!awaitsFirstPacket && peer.canSendVideo) }

    /// The wait of pictures for the first packet, until the relay's next check for idle members. A client has no keys
    /// before it has read the answer: a keyframe that came before would be lost, and the next one may not follow at
    /// once.
    private static let patienceForFirstPacket = Duration.milliseconds(500)

    /// Sends pictures to a client that says nothing for long. Returns whether it was waited for until now.
    func stopAwaitingFirstPacket(now: MonotonicInstant) -> Bool {
        guard awaitsFirstPacket, now - joined >= Self.patienceForFirstPacket else { return false }
        awaitsFirstPacket = false
        return !isSeated
    }

    /// True if the participant only receives, and gets media although it may never send a packet.
    var isSilentReceiver: Bool { mayStaySilent && !isSource && peer.session.transport == nil }

    func isIdle(timeout: Duration, now: MonotonicInstant) -> Bool {
        // On a path that ICE found, consent shows that the client is there.
        guard peer.session.transport == nil else { return false }
        // A receiver that was never heard may be one that sends no RTCP; it ends by DELETE.
        guard isSource || peer.lastAuthenticated != nil else { return false }
        return now - (peer.lastAuthenticated ?? joined) > timeout
    }
}

/// The moderators' decisions about a participant. They outlast a reload of the page.
struct ModerationState: Hashable {
    /// Not heard, whatever the client does.
    var isMuted = false
    /// Muted, and may change that by turning the microphone on.
    var mayUnmute = false
    /// Not seen, whatever the client does.
    var isCameraOff = false
}

extension NegotiatedMedia {
    /// The `level_idc` to which the relay's answer limits the sender; nil if the sender named no level. If each
    /// direction has its own, it is the relay's limit.
    fileprivate var receiveLevel: UInt8? {
        guard let named = h264?.profileLevelID, h264?.levelAsymmetryAllowed == false else { return nil }
        return named.level.idc
    }
}

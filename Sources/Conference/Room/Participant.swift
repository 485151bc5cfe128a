import AudioMixing
import MediaCore
import SecureTransport

/// One member of a room: a connection, a way up and a way down.
final class Participant {
    let id: ParticipantID
    /// What the participant is called in URLs.
    let publicID: String
    let name: String
    let room: String
    let role: ParticipantRole
    let selfView: SelfView
    let joined: MonotonicInstant
    let peer: PeerConnection
    var uplink: UplinkPipeline?
    var downlink: DownlinkPipeline?
    let hearsMix: Bool
    var audioBitRate = BitRate.kilobits(32)
    var expectedAudioLoss = 0.0
    let sendsAudio: Bool
    /// What the mixer last said of the participant's audio.
    var audio: AudioSourceReport?
    var nextWakeUp: MonotonicInstant
    /// Whether the participant stands in the relay's queue of those with something to send.
    var isQueuedForTransmit = false

    init(
        id: ParticipantID, publicID: String, name: String, room: String, role: ParticipantRole, selfView: SelfView,
        peer: PeerConnection, now: MonotonicInstant
    ) {
        self.id = id
        self.publicID = publicID
        self.name = name
        self.room = room
        self.role = role
        self.selfView = selfView
        self.peer = peer
        joined = now
        nextWakeUp = now
        hearsMix = peer.session.audio?.sends ?? false
        sendsAudio = peer.session.audio?.receives ?? false
    }

    /// Whether the participant has a tile: it may send video or audio.
    var isSource: Bool { uplink != nil || sendsAudio }

    func isIdle(timeout: Duration, now: MonotonicInstant) -> Bool {
        // A receiver that was never heard may be one that sends no RTCP; it ends by DELETE.
        guard isSource || peer.lastAuthenticated != nil else { return false }
        return now - (peer.lastAuthenticated ?? joined) > timeout
    }
}

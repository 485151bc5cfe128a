public import Conference
public import LoadControl
public import MediaCore
public import NIOCore
public import PeerConnection
public import RTP
public import RoomAPI
public import SDP
public import SecureTransport

/// The interface between the driver and a relay: the relay's whole sans-I/O surface.
///
/// The program uses `Conference.Relay`; tests replace it to check the server around it.
public protocol RelayCore: AnyObject {
    /// Admits a participant.
    func join(_ request: JoinRequest, now: MonotonicInstant) throws(JoinError) -> JoinResult
    /// True if a participant has a seat, or had one a moment ago.
    func holdsPlace(of publicID: String, inRoom room: String, now: MonotonicInstant) -> Bool
    /// Removes a participant; `false` if it does not exist.
    func leave(room: String, participant: String, now: MonotonicInstant) -> Bool
    /// Answers another offer of a participant in the room.
    func renegotiate(
        room: String, participant: String, offer: ReceivedOffer, now: MonotonicInstant
    ) throws(JoinError) -> JoinResult
    /// Takes candidates; answers with new credentials when they ask for an ICE restart.
    func trickle(
        room: String, participant: String, fragment: TrickleICEFragment, ifMatch: String?, now: MonotonicInstant
    ) throws(TrickleError) -> TrickleICEFragment?
    /// Changes a room.
    func perform(_ command: RoomCommand, room: String, now: MonotonicInstant) throws(RoomControlError)
    /// The state that decides whether a request may act in a room; nil if there is no such room.
    func access(ofRoom id: String, participant publicID: String?) -> RoomAccess?
    /// True if a moderator removed the bearer of a token with these grants from a room.
    func keepsOut(_ grants: MemberGrants, client: TransportAddress?, ofRoom id: String) -> Bool
    /// The outcome for a person in a room's lobby that asks; nil: the person does not wait there.
    func lobbyState(of ticket: String, room id: String, now: MonotonicInstant) -> LobbyState?
    /// A person gives up the place in a room's lobby; false: the person does not wait there.
    func leaveLobby(_ ticket: String, room id: String) -> Bool
    /// The people in a room's lobby; nil: there is no such room.
    func waiting(inRoom id: String) -> [WaitingPerson]?
    /// The state that a new subscriber of a room gets; nil if there is no such room.
    func state(ofRoom id: String) -> RoomState?
    /// The next change in any of the rooms.
    func pollRoomEvent() -> RoomEvent?
    /// Shows a picture of a player. Returns for what the pictures are to be encoded.
    func show(
        _ picture: PixelBuffer, rotation: VideoRotation, ofPlayer id: String, room: String, now: MonotonicInstant
    ) -> PlayerPictureDemand?
    /// Takes an encoded picture of a player.
    func receive(
        _ sample: SampleBuffer, rotation: VideoRotation, shownAt time: MonotonicInstant, ofPlayer id: String,
        room: String, now: MonotonicInstant)
    /// Takes a packet of a player's audio.
    func receive(_ packet: ReceivedAudioPacket, ofPlayer id: String, room: String, now: MonotonicInstant)
    /// The next thing to write into a recording.
    func pollRecording() -> RecordingItem?
    /// Frames of a track could not be written; the track goes on with a keyframe.
    func recordingLostFrames(of track: RecordingTrack, recording: String, room id: String, now: MonotonicInstant)
    /// Sets the measured capacity of the machine for the relay's work.
    func adopt(_ calibration: Calibration, now: MonotonicInstant)
    /// The next thing that overload control has to tell.
    func pollOverloadEvent() -> OverloadEvent?
    /// The next thing to write to the log.
    func pollNotice() -> RelayNotice?
    /// Takes a datagram that arrived.
    func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, at local: TransportAddress?,
        arrival: MonotonicInstant?, now: MonotonicInstant)
    /// Takes that the system cannot send on a path: its local address or the route is gone.
    func sendingFailed(on path: NetworkPath, now: MonotonicInstant)
    /// Takes what the system's clock shows by now.
    func setWallClock(_ clock: WallClock)
    /// Takes the media addresses that answers name from now on.
    func setMediaAddresses(_ addresses: [TransportAddress])
    /// Performs due work.
    func wake(now: MonotonicInstant)
    /// The next time at which `wake` must be called.
    var nextWakeUp: MonotonicInstant { get }
    /// The next datagram to send.
    func pollTransmit(now: MonotonicInstant) -> PeerConnection.Transmit?
    /// The next job to run on a worker.
    func pollJob() -> Job?
    /// Takes a job's result.
    func complete(_ completion: JobCompletion, now: MonotonicInstant)
    /// Takes no more joins, except of clients that come back to their call.
    func drain(isMoving: Bool)
    /// Takes joins again.
    func endDraining()
    /// The relay's seats and rooms, for its cluster.
    var occupancy: RelayOccupancy { get }
    /// True if there are no participants.
    var isEmpty: Bool { get }
    /// Sends a BYE to everyone: the packets are then polled as datagrams.
    func close(now: MonotonicInstant)
    /// The state at this moment.
    func snapshot(now: MonotonicInstant) -> RelaySnapshot
    /// The state of one room; nil if there is no such room.
    func snapshot(room id: String, now: MonotonicInstant) -> RoomSnapshot?
    /// Begins a link of a room to another relay.
    func offerLink(room id: String) throws(CascadeError) -> CascadeOffer
    /// Takes the link that another relay makes.
    func answerLink(
        room id: String, from node: String, offer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError) -> CascadeOffer
    /// Opens a link with the other side's answer.
    func openLink(
        room id: String, to node: String, offer: CascadeOffer, answer: CascadeOffer, now: MonotonicInstant
    ) throws(CascadeError)
    /// Ends the link to a relay, if there is one.
    func endLink(room: String, to node: String, now: MonotonicInstant)
    /// The next message for the other side of a link.
    func pollCascade(now: MonotonicInstant) -> CascadeUpdate?
    /// A message was delivered, or may not have been.
    func cascadeEnded(_ update: CascadeUpdate, isDelivered: Bool, now: MonotonicInstant)
    /// Takes a message of a link's other side.
    func receive(
        _ state: CascadeState, room id: String, from node: String, link name: String, now: MonotonicInstant
    ) throws(CascadeError)
    /// The avatars that a room's participants at another relay have, and this relay lacks.
    func missingAvatars(inRoom id: String, from node: String) -> [Relay.MissingAvatar]
    /// Gives a participant at another relay an avatar.
    func receive(
        _ avatar: Avatar, ofParticipant publicID: String, inRoom id: String, from node: String, now: MonotonicInstant)
    /// The file of a participant's avatar, for the other side of a link; nil: there is no such link or avatar.
    func avatarFile(ofParticipant publicID: String, forLink name: String) -> [UInt8]?
    /// Sets which rooms this relay leads, with their epochs.
    func setConductedRooms(_ epochs: [String: Int64])
    /// Sets which other relays have which rooms of this one.
    func setOtherRelays(_ relays: [String: Set<String>])
    /// This relay's knowledge of a member, for another relay to which the member's client goes; nil: no such member.
    func memberState(_ publicID: String, inRoom room: String) -> CascadeState.Member?
    /// All links.
    func linkSnapshots(now: MonotonicInstant) -> [CascadeLinkSnapshot]
    /// Counted since the relay's start.
    var cascadeCounters: CascadeCounters { get }
    /// A room's last minute; nil if there is no such room.
    func timeline(ofRoom id: String, now: MonotonicInstant) -> RoomTimelineSnapshot?
}

extension Relay: RelayCore {}

public import MediaCore
public import RTP
import RoomAPI
public import SecureTransport

extension Relay {
    /// Changes a room.
    ///
    /// - Throws: `RoomControlError`: the room or the participant does not exist, the command names a participant or an
    ///   image that does not exist, or there were too many changes of its kind. Then nothing has changed.
    public func perform(_ command: RoomCommand, room id: String, now: MonotonicInstant) throws(RoomControlError) {
        guard let room = rooms[id] else { throw .noSuchRoom(id) }
        switch command {
        case .setLayout(let layout):
            try room.changeLimits.room.take(now: now)
            try room.check(layout.mode, hidden: layout.hidden)
            guard try !order(.layout(ReadableLayout(layout)), to: room.conductor, now: now) else { return }
            choose(layout, in: room)
        case .setParticipantLayout(let layout, let id):
            let participant = try Self.participant(id, in: room)
            try participant.changeLimits.layout.take(now: now)
            try room.changeLimits.participantLayouts.take(now: now)
            try room.setLayout(layout, for: participant)
        case .setOverlays(let overlays):
            try room.changeLimits.room.take(now: now)
            try room.check(overlays)
            if try !order(.overlays(overlays), to: room.conductor, now: now) { room.adopt(overlays) }
        case .prepareAvatar(let id):
            let participant = try Self.participant(id, in: room)
            try participant.changeLimits.avatars.take(now: now)
        case .setAvatar(let avatar, let id):
            let participant = try Self.participant(id, in: room)
            // A picture was counted before it was read.
            if avatar == nil { try participant.changeLimits.own.take(now: now) }
            room.setAvatar(avatar, of: participant)
        case .setMediaState(let state, let id):
            let participant = try Self.participant(id, in: room)
            try participant.changeLimits.own.take(now: now)
            room.setMediaState(state, of: participant, now: now)
        case .startRecording(let recording, let request):
            try room.changeLimits.room.take(now: now)
            try room.startRecording(recording, request, log: recordings, now: now)
        case .endRecording(let recording, let reason): try room.endRecording(recording, because: reason, now: now)
        case .startStream(let id, let settings):
            try room.changeLimits.room.take(now: now)
            try room.startStream(id, settings, log: recordings, now: now)
        case .endStream(let id): room.endStream(id)
        case .startOutput(let id, let name, let settings):
            try room.changeLimits.room.take(now: now)
            try room.startOutput(id, name: name, settings, log: recordings, now: now)
        case .setOutput(let id, let state, let reason): try room.setOutput(id, state, because: reason)
        case .endOutput(let id, let reason): try room.endOutput(id, because: reason)
        case .startPlayer(let id, let name, let publisher):
            if let publisher, let refusal = room.door.refusal(of: publisher) {
                throw .notAdmitted(reason: refusal.description)
            }
            try room.changeLimits.room.take(now: now)
            try startPlayer(id, name: name, publisher: publisher, in: room, now: now)
        case .setPlayer(let status): try room.setPlayer(status, now: now)
        case .endPlayer(let id, let reason):
            try endPlayer(room.player(id), in: room, because: reason, now: now)
        case .moderate(let moderation, let actor):
            try room.changeLimits.moderation.take(now: now)
            try moderate(moderation, by: actor, in: room, now: now)
        }
    }

    /// A change below this is the error of a reading, which takes two clocks one after the other.
    private static let clockError = Duration.milliseconds(100)

    /// Takes what the system's clock shows by now: it may have been set, or have gone on while the machine slept.
    ///
    /// Connections keep the clock with which they began, as their receivers compare the times of reports.
    public func setWallClock(_ clock: WallClock) {
        let change = clock.ntpAtOrigin.duration(since: wallClock.ntpAtOrigin)
        guard change.nanoseconds.magnitude > Self.clockError.nanoseconds.magnitude else { return }
        wallClock = clock
        for room in rooms.values { room.wallClock = clock }
    }

    /// Takes the media addresses that answers name from now on: the machine may have got others.
    public func setMediaAddresses(_ addresses: [TransportAddress]) { mediaAddresses = addresses }

    static func participant(_ publicID: String, in room: Room) throws(RoomControlError) -> Participant {
        guard let participant = room.participant(publicID: publicID) else {
            throw .noSuchParticipant(publicID)
        }
        if let remote = participant.remote { throw .atAnotherRelay(participant: publicID, relay: remote.link.node) }
        return participant
    }
}

public import Compositing
public import MediaCore

extension Relay {
    /// Changes a room's layout, for all who have not chosen their own.
    public func setLayout(
        _ layout: RoomLayout, room id: String, now: MonotonicInstant
    ) throws(RoomControlError) {
        let room = try controlledRoom(id)
        try room.changeLimits.room.take(now: now)
        try room.setLayout(layout)
    }

    /// Changes what one participant is shown; nil: all as the room has it.
    public func setLayout(
        _ layout: ParticipantLayout?, room id: String, participant: String, now: MonotonicInstant
    ) throws(RoomControlError) {
        let (room, participant) = try controlled(room: id, participant: participant)
        try participant.changeLimits.layout.take(now: now)
        try room.changeLimits.participantLayouts.take(now: now)
        try room.setLayout(layout, for: participant)
    }

    /// Changes what lies above everybody's picture in a room.
    public func setOverlays(
        _ overlays: OverlayList, room id: String, now: MonotonicInstant
    ) throws(RoomControlError) {
        let room = try controlledRoom(id)
        try room.changeLimits.room.take(now: now)
        try room.setOverlays(overlays)
    }

    /// Gives a participant a portrait, which stands in for their camera while there is no picture of it; nil: none.
    public func setPortrait(
        _ portrait: ImageAsset?, room id: String, participant: String, now: MonotonicInstant
    ) throws(RoomControlError) {
        let (room, participant) = try controlled(room: id, participant: participant)
        try participant.changeLimits.own.take(now: now)
        room.setPortrait(portrait, of: participant)
    }

    /// Takes what a participant says of their microphone and camera.
    public func setMediaState(
        _ state: MediaState, room id: String, participant: String, now: MonotonicInstant
    ) throws(RoomControlError) {
        let (room, participant) = try controlled(room: id, participant: participant)
        try participant.changeLimits.own.take(now: now)
        room.setMediaState(state, of: participant)
    }

    private func controlledRoom(_ id: String) throws(RoomControlError) -> Room {
        guard let room = rooms[id] else { throw .noSuchRoom(id) }
        return room
    }

    private func controlled(
        room id: String, participant publicID: String
    ) throws(RoomControlError) -> (Room, Participant) {
        let room = try controlledRoom(id)
        guard let participant = room.participants.first(where: { $0.publicID == publicID }) else {
            throw .noSuchParticipant(publicID)
        }
        return (room, participant)
    }
}

extension Relay {
    /// The next change in any of the rooms, in the order in which they happened.
    ///
    /// Who does not poll loses the oldest of some thousands; `state(ofRoom:)` tells what they add up to.
    public func pollRoomEvent() -> RoomEvent? { roomEvents.popFirst() }

    /// What those are told who begin to follow a room; nil when there is none of that name.
    public func state(ofRoom id: String) -> RoomState? { rooms[id]?.state }

    /// The next thing to write to the log, if any. Of too many that nobody asks for the oldest are lost.
    public func pollNotice() -> RelayNotice? { notices.popFirst() }
}

extension Participant {
    /// The participant as the log names it.
    var member: RelayNotice.Member {
        RelayNotice.Member(room: room, id: publicID, name: name, role: role, address: address)
    }
}

extension Relay {
    /// The next change in any of the rooms, in the order in which they happened.
    ///
    /// Who does not poll loses the oldest of some thousands; `snapshot(now:)` tells the state.
    public func pollRoomEvent() -> RoomEvent? { roomEvents.popFirst() }
}

public import MediaCore
public import RoomAPI

extension Relay {
    /// The next change in any of the rooms, in order.
    ///
    /// Without polling, the oldest of some thousand events are lost; `state(ofRoom:)` returns their combined effect.
    public func pollRoomEvent() -> RoomEvent? { roomEvents.popFirst() }

    /// The next item for a recording, if any. The oldest are dropped if too many wait.
    public func pollRecording() -> RecordingItem? { recordings.popFirst() }

    /// Frames of a recording's track could not be written; the track goes on with a keyframe, which its sender is asked
    /// for.
    public func recordingLostFrames(
        of track: RecordingTrack, recording: String, room id: String, now: MonotonicInstant
    ) {
        if track == .composite {
            rooms[id]?.compositeLostFrames(recording, now: now)
        } else {
            rooms[id]?.recorder?.lostFrames(of: track)
        }
    }

    /// The state that a new subscriber of a room gets; nil if there is no such room.
    public func state(ofRoom id: String) -> RoomState? { rooms[id]?.state }

    /// The next message for the log, if any. If too many wait, the oldest are lost.
    public func pollNotice() -> RelayNotice? { notices.popFirst() }
}

extension Participant {
    /// The participant as the log names it.
    var member: RelayNotice.Member {
        RelayNotice.Member(room: room, id: publicID, name: name, role: role, address: client)
    }
}

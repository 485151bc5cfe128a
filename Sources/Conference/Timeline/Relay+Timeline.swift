import Compositing
public import MediaCore

extension Relay {
    /// The last minute of a room and the second that comes; nil when there is no room of that name.
    public func timeline(ofRoom id: String, now: MonotonicInstant) -> RoomTimelineSnapshot? {
        rooms[id]?.timelineSnapshot(now: now)
    }
}

extension Room {
    func timelineSnapshot(now: MonotonicInstant) -> RoomTimelineSnapshot {
        timeline.snapshot(room: id, tickInterval: tickInterval, now: now) { source in
            let name = participant(source.participant)?.name ?? "someone who left"
            return source.content == .slides ? "\(name)’s screen" : name
        }
    }
}

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
        var snapshot = timeline.snapshot(
            room: id, tickInterval: tickInterval, views: timelineViews(now: now), now: now
        ) { source in
            let name = participant(source.participant)?.name ?? timeline.name(of: source) ?? "someone who left"
            return source.content == .screenShare ? "\(name) (screen)" : name
        }
        snapshot.measures = measures
        for index in snapshot.encoders.indices where snapshot.encoders[index].ended == nil {
            snapshot.encoders[index].explanations = snapshot.encoders[index].members.map { member in
                participant(publicID: member.id).flatMap { encoderExplanation(for: $0, now: now) } ?? ""
            }
        }
        return snapshot
    }

    /// The plans that there are, each once however many it is for.
    private func timelineViews(now: MonotonicInstant) -> [TimelineView] {
        let time = MediaTime(now)
        var views: [TimelineView] = []
        for participant in participants {
            guard let plan = composition.view(of: participant.id)?.plan else { continue }
            var receiver = RoomTimelineSnapshot.Person(id: participant.publicID, name: participant.name)
            if forwarding.link(of: participant.id)?.source != nil { receiver.isPassedThrough = true }
            if let known = views.firstIndex(where: { $0.plan == plan }) {
                views[known].receivers.append(receiver)
            } else {
                views.append(TimelineView(receivers: [receiver], plan: plan, now: time))
            }
        }
        return views
    }
}

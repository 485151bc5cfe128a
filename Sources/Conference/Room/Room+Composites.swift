import CongestionControl
import EncoderSharing
import MediaCore
import PeerConnection
import RoomAPI

/// The pictures of a room that go into recordings and streams.
extension Room {
    /// Has a picture of the room made for a recording or stream, of this id; one that is made already serves as well.
    func startComposite(
        _ id: String, _ settings: CompositeSettings, log: RecordingLog, now: MonotonicInstant
    ) throws(RoomControlError) {
        try check(settings.layout.mode, hidden: settings.layout.hidden)
        let taker = CompositeTaker(id: id, log: log, now: now)
        if let known = composites.first(where: { $0.suits(settings, configuration: configuration) }) {
            known.add(taker)
            composition.viewsChanged()
            encoders.keyframeRequested(by: known.receiver, now: now)
            return
        }
        if let refusal = overload.refusal {
            throw .noTime(reason: refusal.reason, retryAfter: refusal.retryAfter)
        }
        let composite = RoomComposite(
            receiver: nextCompositeReceiver(), settings: settings, configuration: configuration, now: now)
        composite.add(taker)
        composites.append(composite)
        encoders.setDownlink(
            DownlinkPipeline(format: composite.format, bitRate: composite.bitRate), of: composite.receiver)
        updateMix()
        composition.viewsChanged()
        videoTicks.wake()
    }

    /// Has a picture of the room made for a live stream of this id. Everybody is told.
    func startStream(
        _ id: String, _ settings: CompositeSettings, log: RecordingLog, now: MonotonicInstant
    ) throws(RoomControlError) {
        try startComposite(id, settings, log: log, now: now)
        stream = id
        emit(.streamChanged(StreamStatus(.live, ofRoom: self.id)))
    }

    /// Ends the picture of a live stream, if there is one of this id.
    func endStream(_ id: String) {
        endComposite(id)
        guard stream == id else { return }
        stream = nil
        emit(.streamChanged(StreamStatus(.ended, ofRoom: self.id)))
    }

    /// Ends what `startComposite` began under this id, if there is such a thing.
    func endComposite(_ id: String) {
        guard let index = composites.firstIndex(where: { $0.remove(id) }) else { return }
        let composite = composites[index]
        composition.viewsChanged()
        guard composite.takers.isEmpty else { return }
        composites.remove(at: index)
        encoders.remove(composite.receiver)
        composition.remove(composite.receiver)
        updateMix()
    }

    /// Frames of a recording or stream were lost on their way: it goes on with a keyframe.
    func compositeLostFrames(_ id: String, now: MonotonicInstant) {
        guard let composite = composites.first(where: { $0.lostFrames(of: id) }) else { return }
        encoders.keyframeRequested(by: composite.receiver, now: now)
        videoTicks.wake()
    }

    /// Has composites begin for which there is something to see.
    func beginComposites(now: MonotonicInstant) {
        guard composites.contains(where: { !$0.hasBegun }) else { return }
        let sources = participants.lazy.filter { $0.isSource || $0.sharesScreen }
        let hasPicture =
            sources.isEmpty
            || sources.contains { participant in
                // What nobody has looked at so far has an old picture until its next keyframe.
                SourceContent.allCases.contains { content in
                    participant.pipeline(for: content).map { $0.newest != nil && !$0.isPicturePaused } ?? false
                }
            }
        for composite in composites where composite.begin(hasPicture: hasPicture, now: now) {
            composition.receiversChanged()
        }
    }

    /// The composites, as the composition plane knows receivers.
    var compositeReceivers: [RoomScene.Member] {
        composites.map { composite in
            RoomScene.Member(
                id: composite.receiver, publicID: "", name: "", isSource: false, layout: composite.layout,
                showsSelf: true, canvas: composite.format.dimensions, isComposed: true,
                mayBeSent: composite.hasBegun, isPerson: false)
        }
    }

    /// The composite of a receiver among the planes'; nil if it is a member.
    func composite(_ receiver: ParticipantID) -> RoomComposite? {
        composites.first { $0.receiver == receiver }
    }

    /// A link for those who have no network: whatever is made for them is taken.
    func storageLink(of composite: RoomComposite, now: MonotonicInstant) -> ReceiverLink {
        var queue = LinkQueue()
        queue.setRate(composite.bitRate, now: now)
        return ReceiverLink(canSendVideo: true, hasRoom: true, queue: queue, at: now)
    }

    /// Numbers from above, which no participant gets. The mixer's recording has the highest.
    private func nextCompositeReceiver() -> ParticipantID {
        compositeCount += 1
        return ParticipantID(rawValue: .max - compositeCount)
    }
}

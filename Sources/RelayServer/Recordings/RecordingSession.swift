import Conference
import MediaCore
import RoomAPI
import RoomMedia

/// A recording that goes on, as the relay's loop sees it: what happens in the room becomes entries of the timeline, and
/// samples go to the writer's queue.
///
/// While the queue is full, a track of video loses all frames up to the next keyframe for which there is room, so that
/// the rest can be decoded. The timeline tells from when to when.
struct RecordingSession {
    let room: String
    let writer: RecordingWriter
    private let began: MonotonicInstant
    private var participants: [String: RecordedParticipant] = [:]
    private var losses: [RecordingTrack: Loss] = [:]

    private struct Loss {
        var since: Duration
        var hasAskedForKeyframe = false
    }

    /// - Parameter state: The room as it is when the recording begins.
    init(room: String, writer: RecordingWriter, state: RoomState, now: MonotonicInstant) {
        self.room = room
        self.writer = writer
        began = now
        for participant in state.participants { record(.participantJoined(participant), now: now) }
        record(.layoutChanged(state.layout), now: now)
        record(.activeSpeakerChanged(id: state.activeSpeaker), now: now)
    }

    /// Takes a sample. Returns whether its track is to go on with a keyframe, which its sender is to be asked for.
    mutating func record(_ item: RecordingItem) -> Bool {
        switch item.content {
        case .video(let sample, _):
            guard losses[item.track] == nil || sample.isSync else { return askAfterLoss(of: item.track) }
            return take(item)
        case .audio:
            // Sound in one file with pictures goes on with them.
            guard item.track != .composite || losses[item.track] == nil else { return false }
            return take(item)
        case .trackEnded:
            endLoss(of: item.track, at: item.at)
            _ = take(item)
            return false
        case .anchored:
            // It ends no loss: what follows still needs a keyframe.
            _ = writer.queue.offer(item)
            return false
        }
    }

    private mutating func take(_ item: RecordingItem) -> Bool {
        guard losses[item.track] == nil || writer.queue.isRoomy, writer.queue.offer(item) else {
            // A keyframe that found no room has to be asked for again.
            losses[item.track, default: Loss(since: item.at)].hasAskedForKeyframe = false
            return false
        }
        endLoss(of: item.track, at: item.at)
        return false
    }

    /// Once there is room, and not before: a keyframe costs those who watch.
    private mutating func askAfterLoss(of track: RecordingTrack) -> Bool {
        guard let loss = losses[track], !loss.hasAskedForKeyframe, writer.queue.isRoomy else { return false }
        losses[track]?.hasAskedForKeyframe = true
        return true
    }

    private mutating func endLoss(of track: RecordingTrack, at time: Duration) {
        guard let loss = losses.removeValue(forKey: track) else { return }
        writer.queue.append(.gap(track, until: time.seconds, reason: .slowDisk), at: loss.since)
    }

    /// Takes what happened in the room.
    mutating func record(_ change: RoomEvent.Kind, now: MonotonicInstant) {
        let time = max(now - began, .zero)
        switch change {
        case .participantJoined(let summary):
            let participant = RecordedParticipant(summary)
            participants[summary.id] = participant
            writer.queue.append(.joined(participant), at: time)
        case .participantChanged(let summary):
            let participant = RecordedParticipant(summary)
            guard participants[summary.id] != participant else { return }
            participants[summary.id] = participant
            writer.queue.append(.changed(participant), at: time)
        case .participantLeft(let id):
            participants[id] = nil
            writer.queue.append(.left(participant: id), at: time)
        case .activeSpeakerChanged(let id): writer.queue.append(.speaker(participant: id), at: time)
        case .layoutChanged(let layout): writer.queue.append(.layout(layout), at: time)
        case .recordingChanged(let status):
            guard let reason = status.reason else { return }
            for track in losses.keys { endLoss(of: track, at: time) }
            writer.queue.end(reason, at: time)
        case .overlaysChanged, .tileChanged, .encoderFailed, .streamChanged, .outputChanged, .playerChanged, .moderated,
            .moderatedElsewhere, .entryChanged, .moved, .closed:
            return
        }
    }
}

extension RecordedParticipant {
    init(_ summary: ParticipantSummary) {
        self.init(
            id: summary.id, name: summary.name, microphone: summary.microphone, camera: summary.camera,
            screenShare: summary.screenShare, isSpeaking: summary.isSpeaking)
    }
}

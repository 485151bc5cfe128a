import Compositing
import MediaCore
import PeerConnection
import RoomAPI

/// A recording's wishes, as those of a viewer with needs of its own.
extension Room {
    /// Tells everybody in their pictures that they are recorded, or that others see the room in a stream.
    var marks: [CompositionOverlay] {
        var words = recording == nil ? [] : ["REC"]
        if composites.contains(where: { $0.takers.contains { $0.id != recording } }) { words.append("LIVE") }
        guard !words.isEmpty else { return [] }
        let text = "\u{25CF} " + words.joined(separator: " \u{25CF} ")
        return [CompositionOverlay(.text(text), anchor: .topLeft, height: 0.045, opacity: 0.85)]
    }

    /// Begins to record. Everybody is told. Where each source is recorded, every sender is asked for a keyframe.
    func startRecording(
        _ id: String, _ request: RecordingRequest, log: RecordingLog, now: MonotonicInstant
    ) throws(RoomControlError) {
        if let recording { throw .isRecorded(recording: recording) }
        switch request.mode {
        case .tracks: recorder = RoomRecorder(id: id, log: log, now: now)
        case .composite: try startComposite(id, request.composite, log: log, now: now)
        }
        recording = id
        updateMix()
        recordingChanged(RecordingStatus(id: id, state: .recording), now: now)
    }

    /// Ends the recording of this id.
    func endRecording(
        _ id: String, because reason: RecordingEndReason, now: MonotonicInstant
    ) throws(RoomControlError) {
        guard recording == id else { throw .noSuchRecording(id) }
        endRecording(because: reason, now: now)
    }

    func endRecording(because reason: RecordingEndReason, now: MonotonicInstant) {
        guard let recording else { return }
        recorder?.finish(now: now)
        recorder = nil
        endComposite(recording)
        self.recording = nil
        updateMix()
        recordingChanged(RecordingStatus(id: recording, state: .ended, reason: reason), now: now)
    }

    /// Has a mix of all made while anything records it.
    func updateMix() { audio.setRecorded(recorder != nil || !composites.isEmpty) }

    private func recordingChanged(_ status: RecordingStatus, now: MonotonicInstant) {
        emit(.recordingChanged(status))
        composition.viewsChanged()
        for participant in participants {
            for content in SourceContent.allCases {
                guard let pipeline = participant.pipeline(for: content) else { continue }
                if pipeline.skipMode == .keyframes {
                    // While a video is recorded it is repaired, even if nobody looks at it.
                    let isRelayed = forwarding.crossing.contains(pipeline.source)
                    participant.peer.setUnseen(
                        recorder == nil && !isRelayed, content: participant.stream(of: content),
                        needsKeyframe: recorder != nil, now: now)
                } else if recorder != nil {
                    participant.wantKeyframe(content, now: now)
                }
                participant.carrier.wakeSoon(now: now)
            }
        }
    }

    func record(_ frame: ReceivedVideoFrame, from participant: Participant, now: MonotonicInstant) {
        guard let recorder, SourceContent(frame.content) != .camera || participant.cameraIsOn else { return }
        if recorder.record(frame, of: RoomRecorder.Member(participant), now: now) {
            participant.wantKeyframe(SourceContent(frame.content), now: now)
        }
    }

    /// Records an audio packet, unless the room does not hear the participant: the microphone is off or muted.
    func record(_ packet: ReceivedAudioPacket, from participant: Participant) {
        guard participant.isHeard else { return }
        recorder?.record(packet, of: RoomRecorder.Member(participant))
    }

    func record(_ mix: AudioPlane.Mix) {
        guard let recorded = mix.recorded else { return }
        recorder?.record(recorded, at: mix.tick.captureTime)
        for composite in composites { composite.take(recorded, at: mix.tick.captureTime) }
    }

    /// The tile that a recorded source is asked to fill: the room's canvas, however small it is shown now.
    func recordedTile(_ tile: VideoDimensions) -> VideoDimensions {
        tile.covering(configuration.canvas)
    }
}

extension RoomRecorder.Member {
    fileprivate init(_ participant: Participant) {
        self.init(id: participant.id, publicID: participant.publicID)
    }
}

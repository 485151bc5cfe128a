import Conference
import Foundation
import Logging
import MediaCore
import NIOCore
import RoomAPI
import RoomMedia

/// Recordings of the relay's rooms.
extension RelayDriver {
    /// Lets rooms be recorded; to be called before the relay serves.
    func setRecordings(_ store: RecordingStore, logger: Logger, now: @escaping @Sendable () -> MonotonicInstant) {
        recordings = RecordingHub(store: store, logger: logger, now: now) { [weak self, eventLoop] room, id, reason in
            eventLoop.execute { [weak self] in
                self?.assumeIsolated { driver in
                    try? driver.perform(.endRecording(id: id, reason: reason), room: room)
                }
            }
        }
    }

    /// Begins to record a room.
    func startRecording(room: String, _ request: RecordingRequest) throws(RoomControlError) -> RecordingStatus {
        try act { relay, now throws(RoomControlError) in try begin(room: room, request, now: now) }
    }

    /// Ends a recording. Its writer comes back, which has yet to close the files.
    func endRecording(_ id: String, room: String) throws(RoomControlError) -> RecordingWriter? {
        let writer = recordings?.writer(of: id)
        try perform(.endRecording(id: id, reason: .stopped), room: room)
        return writer
    }

    private func begin(
        room: String, _ request: RecordingRequest, now: MonotonicInstant
    ) throws(RoomControlError) -> RecordingStatus {
        var generator = SystemRandomNumberGenerator()
        let id = RecordingStore.makeID(at: .now, using: &generator)
        try relay.perform(.startRecording(id: id, request), room: room, now: now)
        if let state = relay.state(ofRoom: room) {
            recordings?.begin(id, room: room, mode: request.mode, state: state, now: now)
        }
        return RecordingStatus(id: id, state: .recording)
    }

    /// Takes the samples that the relay's rooms have for their recordings and streams.
    func record(now: MonotonicInstant) {
        while let item = relay.pollRecording() {
            var taken = outputs?.record(item) ?? (isTaken: false, keyframe: nil)
            if !taken.isTaken { taken = streams?.record(item) ?? taken }
            guard let room = taken.isTaken ? taken.keyframe : recordings?.record(item) else { continue }
            relay.recordingLostFrames(of: item.track, recording: item.recording, room: room, now: now)
        }
    }

    /// Takes what happened in a room.
    func record(_ event: RoomEvent, now: MonotonicInstant) {
        recordings?.record(event, now: now)
        outputs?.record(event)
        players?.record(event)
        if case .closed = event.kind { forget(room: event.room) }
        guard case .participantJoined = event.kind, recordings?.shouldBegin(room: event.room) ?? false else { return }
        // The room may be gone again: then there is nothing to record.
        _ = try? begin(room: event.room, RecordingRequest(), now: now)
    }
}

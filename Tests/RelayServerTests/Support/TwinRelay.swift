import Compositing
import LoadControl
import MediaCore
import NIOCore
import RTP
import RelayServer
import RoomAPI
import SDP
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import PeerConnection

/// Takes the place of a relay: records the server's calls and answers as the test says.
final class TwinRelay: RelayCore {
    /// State that the twin shares with the test, so that the test can look at it from outside the loop.
    final class Script: Sendable {
        struct State {
            var joinOutcome: Result<JoinResult, JoinError> = .success(
                JoinResult(participantID: "p1", answer: "v=0\r\n"))
            var requests: [JoinRequest] = []
            var renegotiations: [Update<ReceivedOffer>] = []
            var trickles: [Update<TrickleICEFragment>] = []
            /// The tag that `trickle` takes beside `*`.
            var entityTag = "\"one\""
            /// The answer to a fragment with credentials.
            var restartAnswer: TrickleICEFragment?
            var isWithoutICE = false
            var roomLayouts: [RoomLayout] = []
            var participantLayouts: [Update<ParticipantLayout?>] = []
            var overlays: [OverlayList] = []
            var avatars: [Update<Avatar?>] = []
            var mediaStates: [Update<MediaState>] = []
            var events: [RoomEvent] = []
            /// The offer of each link that is made; nil: none can be.
            var linkOffer: CascadeOffer?
            /// Called with the room of each link that was opened.
            var onLink: @Sendable (String) -> Void = { _ in }
            /// The links that there are.
            var links: [CascadeLinkSnapshot] = []
            /// Called when they are asked for.
            var onLinkSnapshots: @Sendable () -> Void = {}
            /// Called when one of them is ended.
            var onLinkEnd: @Sendable () -> Void = {}
            /// The first messages of these links.
            var updates: [CascadeUpdate] = []
            var rooms: [String: RoomState] = [:]
            /// The conditions for acting in a room, by room and member.
            var access: [String: RoomAccess] = [:]
            var grants: [String: MemberGrants] = [:]
            /// The identities of those whom moderators removed.
            var keptOut: Set<String> = []
            var lobby: [String: LobbyState] = [:]
            var moderations: [(what: RoomCommand.Moderation, by: RoomActor)] = []
            /// The outputs that go on.
            var outputs: [Output] = []
            /// The players that go on.
            var players: [PlayerStatus] = []
            /// The pictures and audio that the players showed and played.
            var shown: [Update<PixelBuffer>] = []
            /// For what their pictures are to be encoded, and what came of it.
            var pictureDemand: PlayerPictureDemand?
            var encoded: [Update<SampleBuffer>] = []
            var played: [Update<ReceivedAudioPacket>] = []
            var left: [String] = []
            var participants: Set<String> = ["p1"]
            var received: [(bytes: [UInt8], source: TransportAddress)] = []
            var receiveTimes: [MonotonicInstant] = []
            var arrivals: [MonotonicInstant?] = []
            var jobs: [Job] = []
            /// Called with each job's result.
            var onComplete: (@Sendable () -> Void)?
            var wakeUps: [MonotonicInstant] = []
            var nextWakeUp = MonotonicInstant.distantFuture
            /// Being woken does not move the next time.
            var isWokenWithoutEnd = false
            var transmits: [PeerConnection.Transmit] = []
            /// Sent when the relay is closed.
            var byes: [PeerConnection.Transmit] = []
            /// If true, each datagram is sent back on its path.
            var echoes = false
            var isClosed = false
            var occupancy = RelayOccupancy()
            var isEmpty = true
            var snapshot = RelaySnapshot()
            /// The number of snapshots and timelines that were made.
            var snapshotCount = 0
            var timelineCount = 0
            var timelines: [RoomTimelineSnapshot] = []
            var calibrations: [Calibration] = []
            var overloadEvents: [OverloadEvent] = []
            var notices: [RelayNotice] = []
        }

        struct Output: Sendable {
            var id: String
            var name: String?
            var settings: CompositeSettings
        }

        /// A change of a participant that a request asks for.
        struct Update<Value: Sendable>: Sendable {
            var participant: String
            var value: Value
        }

        let state = Mutex(State())

        /// Waits until a condition holds.
        func wait(
            sourceLocation: SourceLocation = #_sourceLocation, until condition: (borrowing State) -> Bool
        ) async throws {
            try await eventually(sourceLocation: sourceLocation) { state.withLock { condition($0) } }
        }

        fileprivate func note<Result>(_ body: (inout State) -> Result) -> Result where Result: Sendable {
            state.withLock { body(&$0) }
        }
    }

    let script: Script

    init(_ script: Script) {
        self.script = script
    }

    func join(_ request: JoinRequest, now: MonotonicInstant) throws(JoinError) -> JoinResult {
        let outcome = script.note { state in
            state.requests.append(request)
            return state.joinOutcome
        }
        return try outcome.get()
    }

    func leave(room: String, participant: String, now: MonotonicInstant) -> Bool {
        script.note { state in
            guard state.participants.remove(participant) != nil else { return false }
            state.left.append(participant)
            return true
        }
    }

    func renegotiate(
        room: String, participant: String, offer: ReceivedOffer, now: MonotonicInstant
    ) throws(JoinError) -> JoinResult {
        let outcome = script.note { state -> Result<JoinResult, JoinError> in
            guard state.participants.contains(participant) else { return .failure(.noSuchParticipant) }
            state.renegotiations.append(.init(participant: participant, value: offer))
            return state.joinOutcome
        }
        return try outcome.get()
    }

    func trickle(
        room: String, participant: String, fragment: TrickleICEFragment, ifMatch: String?, now: MonotonicInstant
    ) throws(TrickleError) -> TrickleICEFragment? {
        let outcome = script.note { state -> Result<TrickleICEFragment?, TrickleError> in
            guard state.participants.contains(participant) else { return .failure(.noSuchParticipant) }
            guard !state.isWithoutICE else { return .failure(.notSupported) }
            guard ifMatch == "*" || ifMatch == state.entityTag else { return .failure(.sessionReplaced) }
            state.trickles.append(.init(participant: participant, value: fragment))
            return .success(fragment.credentials == nil ? nil : state.restartAnswer)
        }
        return try outcome.get()
    }

    func perform(_ command: RoomCommand, room: String, now: MonotonicInstant) throws(RoomControlError) {
        switch command {
        case .setLayout(let layout):
            try control(layout.mode, room: room) { $0.roomLayouts.append(layout) }
        case .setParticipantLayout(let layout, let participant):
            try control(layout?.mode, room: room, participant: participant) {
                $0.participantLayouts.append(.init(participant: participant, value: layout))
            }
        case .setOverlays(let overlays):
            if let error = overlays.error(ofImagesIn: ImageLibrary()) { throw .noSuchImages(error) }
            try control(nil, room: room) {
                $0.overlays.append(overlays)
                $0.snapshot.rooms[0].overlays = overlays
            }
        case .prepareAvatar(let participant):
            try control(nil, room: room, participant: participant) { _ in }
        case .setAvatar(let avatar, let participant):
            try control(nil, room: room, participant: participant) {
                $0.avatars.append(.init(participant: participant, value: avatar))
            }
        case .startRecording, .endRecording, .startStream, .endStream, .setOutput:
            try control(nil, room: room) { _ in }
        case .startOutput(let id, let name, let settings):
            try control(nil, room: room) { state in
                state.outputs.append(.init(id: id, name: name, settings: settings))
            }
        case .endOutput(let id, let reason):
            try control(nil, room: room) { state in
                guard let index = state.outputs.firstIndex(where: { $0.id == id }) else { return }
                let output = state.outputs.remove(at: index)
                let status = OutputStatus(id: id, name: output.name, state: .ended, reason: reason)
                state.events.append(RoomEvent(room: room, kind: .outputChanged(status)))
            }
        case .startPlayer(let id, let name, _):
            try control(nil, room: room) { state in
                state.players.append(PlayerStatus(id: id, name: name, state: .opening))
            }
        case .setPlayer(let status):
            try control(nil, room: room) { state in
                guard let index = state.players.firstIndex(where: { $0.id == status.id }) else { return }
                state.players[index] = status
                state.events.append(RoomEvent(room: room, kind: .playerChanged(status)))
            }
        case .endPlayer(let id, let reason):
            let isHere = script.state.withLock { $0.players.contains { $0.id == id } }
            guard isHere else { throw .noSuchPlayer(id) }
            try control(nil, room: room) { state in
                guard let index = state.players.firstIndex(where: { $0.id == id }) else { return }
                var status = state.players.remove(at: index)
                (status.state, status.reason) = (.ended, reason)
                state.events.append(RoomEvent(room: room, kind: .playerChanged(status)))
            }
        case .setMediaState(let media, let participant):
            try control(nil, room: room, participant: participant) {
                $0.mediaStates.append(.init(participant: participant, value: media))
            }
        case .moderate(let moderation, let actor):
            try control(nil, room: room) { $0.moderations.append((moderation, actor)) }
        }
    }

    private func control(
        _ layout: LayoutMode?, room: String, participant: String? = nil, change: (inout Script.State) -> Void
    ) throws(RoomControlError) {
        let refusal = script.note { state -> RoomControlError? in
            guard state.snapshot.rooms.contains(where: { $0.id == room }) else { return .noSuchRoom(room) }
            if let participant, !state.participants.contains(participant) { return .noSuchParticipant(participant) }
            if let shown = layout?.participant, !state.participants.contains(shown) {
                return .layoutNamesNobody(participant: shown)
            }
            change(&state)
            return nil
        }
        if let refusal { throw refusal }
    }

    func state(ofRoom id: String) -> RoomState? {
        script.state.withLock { $0.rooms[id] }
    }

    func pollRoomEvent() -> RoomEvent? {
        script.state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
    }

    func show(
        _ picture: PixelBuffer, rotation: VideoRotation, ofPlayer id: String, room: String, now: MonotonicInstant
    ) -> PlayerPictureDemand? {
        script.note { $0.shown.append(.init(participant: id, value: picture)) }
        return script.state.withLock { $0.pictureDemand }
    }

    func receive(
        _ sample: SampleBuffer, rotation: VideoRotation, shownAt time: MonotonicInstant, ofPlayer id: String,
        room: String, now: MonotonicInstant
    ) {
        script.note { $0.encoded.append(.init(participant: id, value: sample)) }
    }

    func receive(_ packet: ReceivedAudioPacket, ofPlayer id: String, room: String, now: MonotonicInstant) {
        script.note { $0.played.append(.init(participant: id, value: packet)) }
    }

    func pollRecording() -> RecordingItem? { nil }

    func recordingLostFrames(
        of track: RecordingTrack, recording: String, room id: String, now: MonotonicInstant
    ) {}

    func adopt(_ calibration: Calibration, now: MonotonicInstant) {
        script.note { $0.calibrations.append(calibration) }
    }

    func pollOverloadEvent() -> OverloadEvent? {
        script.state.withLock { $0.overloadEvents.isEmpty ? nil : $0.overloadEvents.removeFirst() }
    }

    func pollNotice() -> RelayNotice? {
        script.state.withLock { $0.notices.isEmpty ? nil : $0.notices.removeFirst() }
    }

    func receive(
        _ datagram: consuming ByteBuffer, from source: TransportAddress, at local: TransportAddress?,
        arrival: MonotonicInstant?, now: MonotonicInstant
    ) {
        let datagram = datagram
        script.note { state in
            state.received.append((Array(datagram.readableBytesView), source))
            state.receiveTimes.append(now)
            state.arrivals.append(arrival)
            if state.echoes {
                let path = NetworkPath(remote: source, local: local)
                state.transmits.append(PeerConnection.Transmit(datagram: datagram, path: path))
            }
        }
    }

    func wake(now: MonotonicInstant) {
        script.note { state in
            state.wakeUps.append(now)
            if !state.isWokenWithoutEnd { state.nextWakeUp = .distantFuture }
        }
    }

    var nextWakeUp: MonotonicInstant { script.state.withLock { $0.nextWakeUp } }

    func pollTransmit(now: MonotonicInstant) -> PeerConnection.Transmit? {
        script.state.withLock { $0.transmits.isEmpty ? nil : $0.transmits.removeFirst() }
    }

    func pollJob() -> Job? { script.state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() } }

    func complete(_ completion: JobCompletion, now: MonotonicInstant) { script.state.withLock { $0.onComplete }?() }

    func drain(isMoving: Bool) { script.note { $0.snapshot.isDraining = true } }

    func endDraining() { script.note { $0.snapshot.isDraining = false } }

    var occupancy: RelayOccupancy { script.state.withLock { $0.occupancy } }

    var isEmpty: Bool { script.state.withLock { $0.isEmpty } }

    func close(now: MonotonicInstant) {
        script.note { state in
            state.isClosed = true
            state.transmits += state.byes
        }
    }

    func snapshot(now: MonotonicInstant) -> RelaySnapshot {
        script.state.withLock {
            $0.snapshotCount += 1
            return $0.snapshot
        }
    }

    func snapshot(room id: String, now: MonotonicInstant) -> RoomSnapshot? {
        script.state.withLock { $0.snapshot.rooms.first { $0.id == id } }
    }

    func setWallClock(_ clock: WallClock) {}
    func setMediaAddresses(_ addresses: [TransportAddress]) {}
    func sendingFailed(on path: NetworkPath, now: MonotonicInstant) {}

    func timeline(ofRoom id: String, now: MonotonicInstant) -> RoomTimelineSnapshot? {
        script.state.withLock {
            $0.timelineCount += 1
            return $0.timelines.first { $0.room == id }
        }
    }
}

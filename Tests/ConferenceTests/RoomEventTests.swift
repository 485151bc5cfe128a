import Compositing
import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// The events that followers of a room receive.
@Suite struct RoomEventTests {
    private static let nothing = VideoDimensions(width: 0, height: 0)

    @Test("joining, connecting, changing and leaving are reported, and the end of the room")
    func life() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        ada.isSilent = true
        var summary = ParticipantSummary(
            id: ada.participantID, name: "Ada", role: .sendAndReceive, microphone: true, camera: true)
        #expect(call.roomEvents() == [.participantJoined(summary)])
        call.run(for: .seconds(1))
        summary.connection = .connected
        #expect(call.roomEvents().filter(\.isAboutParticipants) == [.participantChanged(summary)])

        let state = MediaState(microphone: false)
        try call.relay.perform(.setMediaState(state, participant: ada.participantID), room: "demo", now: call.now)
        summary.microphone = false
        #expect(call.roomEvents() == [.participantChanged(summary)])
        try call.relay.perform(.setMediaState(state, participant: ada.participantID), room: "demo", now: call.now)
        #expect(call.roomEvents().isEmpty)

        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        #expect(call.roomEvents() == [.participantLeft(id: ada.participantID), .closed])
    }

    @Test("events report the participants that begin and stop speaking, and the room's speaker")
    func speaking() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        ada.isSilent = true
        ben.isSilent = true
        call.run(for: .seconds(1))
        _ = call.roomEvents()
        ben.isSilent = false
        call.run(for: .seconds(3))
        ben.isSilent = true
        call.run(for: .seconds(3))
        let events = call.roomEvents()
        let told = events.compactMap { event -> Bool? in
            guard case .participantChanged(let summary) = event else { return nil }
            #expect(summary.id == ben.participantID)
            return summary.isSpeaking
        }
        #expect(told == [true, false])
        #expect(events.filter(\.isAboutTheSpeaker) == [.activeSpeakerChanged(id: ben.participantID)])
        _ = call.relay.leave(room: "demo", participant: ben.participantID, now: call.now)
        #expect(call.roomEvents().contains(.activeSpeakerChanged(id: nil)))
    }

    @Test("who sends no audio any more does not speak, and stays the room's speaker only until another speaks")
    func endOfAudio() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        ada.isSilent = true
        call.run(for: .seconds(3))
        let room = try #require(call.relay.rooms["demo"])
        #expect(room.activeSpeaker?.publicID == ben.participantID)
        _ = call.roomEvents()
        try call.renegotiate(ben) { $0.audio?.direction = .receiveOnly }
        call.run(for: .seconds(1))
        let told = call.roomEvents().compactMap { event -> Bool? in
            guard case .participantChanged(let summary) = event else { return nil }
            return summary.isSpeaking
        }
        #expect(told == [false])
        #expect(room.activeSpeaker?.publicID == ben.participantID)
        ada.isSilent = false
        call.run(for: .milliseconds(1500))
        #expect(room.activeSpeaker?.publicID == ada.participantID)
    }

    @Test("who sends nothing any more has no tile in the room's state")
    func endOfTile() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(1))
        func tiles() throws -> [RoomTile] {
            try #require(call.relay.state(ofRoom: "demo")).tiles.filter { $0.participant == ben.participantID }
        }
        #expect(try tiles().map(\.content) == [.camera])
        try call.renegotiate(ben) { parameters in
            parameters.video?.direction = .receiveOnly
            parameters.audio?.direction = .receiveOnly
        }
        call.run(for: .seconds(1))
        #expect(try tiles().isEmpty)
    }

    @Test("each learns the size of its tile: the largest in which anybody sees it")
    func tileSizes() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .milliseconds(200))
        // Nobody else is there to see it.
        #expect(
            call.roomEvents().compactMap(\.tile)
                == [Tile(ada, Self.nothing)])
        let ben = try call.join("Ben", colour: .green)
        let cy = try call.join("Cy", colour: .blue)
        call.run(for: .milliseconds(200))
        let half = VideoDimensions(width: 160, height: 90)
        #expect(
            Set(call.roomEvents().compactMap(\.tile)) == Set([ada, ben, cy].map { Tile($0, half) }))

        try call.relay.perform(.setLayout(.solo(participant: ben.participantID)), room: "demo", now: call.now)
        call.run(for: .milliseconds(200))
        let whole = VideoDimensions(width: 320, height: 180)
        // Ben himself is shown the speaker layout of the two others: three quarters, and a quarter, which is told only
        // when it has been so for a while.
        #expect(
            Set(call.roomEvents().compactMap(\.tile))
                == [Tile(ada, VideoDimensions(width: 242, height: 136)), Tile(ben, whole)])
        call.run(for: RequestedLayer.patience)
        #expect(call.roomEvents().compactMap(\.tile) == [Tile(cy, VideoDimensions(width: 80, height: 44))])
        let tiles = call.relay.snapshot(room: "demo", now: call.now)?.participants.map(\.tiles)
        #expect(tiles?[1] == [TileSnapshot(content: .camera, width: 320, height: 180)])
        call.run(for: .seconds(2))
        #expect(call.roomEvents().compactMap(\.tile).isEmpty)
    }

    @Test("a screen is reported with its tile when its first picture is there, and when it has ended")
    func screenShare() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red) { $0.screenShare = .init(direction: .sendOnly) }
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(1))
        _ = call.roomEvents()
        ada.screenShare = .yellow
        call.run(for: .seconds(1))
        var events = call.roomEvents()
        let shown = events.contains { event in
            if case .participantChanged(let summary) = event { summary.screenShare } else { false }
        }
        #expect(shown)
        #expect(
            events.compactMap(\.tile).contains(
                Tile(ada, VideoDimensions(width: 242, height: 180), .screenShare)))
        let room = try #require(call.relay.rooms["demo"])
        ada.screenShare = nil
        room.videoEnded(.screenShare, of: try #require(room.participants.first), now: call.now)
        call.run(for: .seconds(1))
        events = call.roomEvents()
        let ended = events.contains { event in
            if case .participantChanged(let summary) = event { !summary.screenShare } else { false }
        }
        #expect(ended)
    }

    @Test("a changed layout is reported once, the room's as such and a participant's own with the participant")
    func layouts() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .milliseconds(200))
        _ = call.roomEvents()
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now)
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now)
        let own = ParticipantLayout(.sideBySide, hidden: [ada.participantID], selfView: .always)
        for _ in 0..<2 {
            try call.relay.perform(
                .setParticipantLayout(own, participant: ada.participantID), room: "demo", now: call.now)
        }
        // To choose nothing is to give the choice up.
        try call.relay.perform(
            .setParticipantLayout(ParticipantLayout(), participant: ada.participantID), room: "demo", now: call.now)
        try call.relay.perform(.setParticipantLayout(nil, participant: ada.participantID), room: "demo", now: call.now)
        let events = call.roomEvents()
        #expect(events.first == .layoutChanged(.speaker))
        let told = events.dropFirst().map { event -> ParticipantLayout? in
            guard case .participantChanged(let summary) = event else {
                return ParticipantLayout(.solo(participant: "?"))
            }
            return summary.layout
        }
        #expect(told == [own, nil])
    }

    @Test("events that nobody polls are bounded: the oldest are dropped")
    func bounded() {
        let log = RoomEventLog()
        for index in 0..<(3 * RoomEventLog.capacity) { log.append(.participantLeft(id: "\(index)"), room: "demo") }
        #expect(log.popFirst()?.kind == .participantLeft(id: "\(2 * RoomEventLog.capacity)"))
        var count = 1
        while log.popFirst() != nil { count += 1 }
        #expect(count == RoomEventLog.capacity)
    }
}

extension RoomEvent.Kind {
    fileprivate var isAboutParticipants: Bool {
        switch self {
        case .participantJoined, .participantChanged, .participantLeft: true
        default: false
        }
    }

    fileprivate var isAboutTheSpeaker: Bool {
        if case .activeSpeakerChanged = self { true } else { false }
    }

    fileprivate var tile: Tile? {
        if case .tileChanged(let tile) = self {
            Tile(
                participant: tile.participant, content: tile.content,
                size: VideoDimensions(width: tile.width, height: tile.height))
        } else {
            nil
        }
    }
}

/// A member's tile and its size.
private struct Tile: Hashable {
    var participant: String
    var content: SourceContent
    var size: VideoDimensions
}

extension Tile {
    init(_ client: TestClient, _ size: VideoDimensions, _ content: SourceContent = .camera) {
        self.init(participant: client.participantID, content: content, size: size)
    }
}

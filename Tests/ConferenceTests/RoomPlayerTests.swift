import AudioMixing
import MediaCore
import MediaFixtures
import NIOCore
import PeerConnection
import RoomAPI
import SecureTransport
import Testing

@testable import Conference

/// Films and streams that are members of rooms.
@Suite struct RoomPlayerTests {
    private let call = VirtualCall()

    private func start(_ id: String = "player-1") throws {
        try call.act { relay, now in
            try relay.perform(.startPlayer(id: id, name: "Talk", publisher: nil), room: "demo", now: now)
        }
    }

    private func tell(_ state: PlayerStatus.State, _ id: String = "player-1", audio: Bool = true) throws {
        let status = PlayerStatus(id: id, name: "Talk", state: state, video: true, audio: audio)
        try call.act { relay, now in try relay.perform(.setPlayer(status), room: "demo", now: now) }
    }

    /// Plays a film of one colour, with noise or in silence.
    private func play(_ colour: Colour, audible: Bool = true, for duration: Duration) throws {
        let encoder = try OpusEncoder()
        var random = SeededGenerator(seed: 3)
        for frame in 0..<Int64(duration / .milliseconds(20)) {
            let samples = (0..<960).map { _ in audible ? Float.random(in: -0.3...0.3, using: &random) : 0 }
            let packet = ReceivedAudioPacket(
                payload: try encoder.encode(samples), rtpTimestamp: UInt32(frame * 960), sequence: frame,
                level: AudioLevel(decibelsBelowOverload: audible ? 15 : 127), arrival: call.now)
            call.act { relay, now in
                relay.receive(packet, ofPlayer: "player-1", room: "demo", now: now)
                guard frame % 2 == 0 else { return }
                let picture = PixelBuffer.pattern(
                    colour, dimensions: VideoDimensions(width: 160, height: 90), phase: Int(frame))
                relay.show(picture, rotation: .none, ofPlayer: "player-1", room: "demo", now: now)
            }
            call.run(for: .milliseconds(20))
        }
    }

    private func isHeard(by client: TestClient, since count: Int) -> Bool {
        client.audioPackets.dropFirst(count).contains { ($0.level?.decibelsBelowOverload ?? 127) < 60 }
    }

    private var participants: [ParticipantSummary] { call.relay.state(ofRoom: "demo")?.participants ?? [] }

    @Test("people see and hear a film as they do a member")
    func seen() throws {
        let ada = try call.join("Ada", colour: .red)
        ada.isSilent = true
        try start()
        call.run(for: .milliseconds(500))
        #expect(participants.last.map { $0.id == "player-1" && !$0.camera && $0.name == "Talk" } == true)
        try tell(.playing)
        let before = ada.audioPackets.count
        try play(.green, for: .seconds(3))
        #expect(try #require(ada.picture).colour(x: 160, y: 60).resembles(.green))
        #expect(isHeard(by: ada, since: before))
        #expect(participants.last?.camera == true && participants.last?.microphone == true)
    }

    @Test("moderators mute, hide and remove a film as they do a member, and everybody is told the end")
    func moderated() throws {
        let ada = try call.join("Ada", colour: .red)
        ada.isSilent = true
        try start()
        try tell(.playing)
        try play(.green, for: .seconds(2))
        let mo = RoomActor(participant: "m", name: "Mo")
        func moderate(_ what: RoomCommand.Moderation) throws {
            try call.act { relay, now in try relay.perform(.moderate(what, by: mo), room: "demo", now: now) }
        }
        try moderate(.member(MemberModeration(microphone: .muted, camera: .off), participant: "player-1"))
        try play(.green, for: .seconds(1))
        let before = ada.audioPackets.count
        try play(.green, for: .seconds(1))
        #expect(!isHeard(by: ada, since: before))
        #expect(try !#require(ada.picture).colour(x: 160, y: 60).resembles(.green))
        _ = call.roomEvents()
        try moderate(.remove(participant: "player-1", keepOut: true))
        let ended = PlayerStatus(
            id: "player-1", name: "Talk", state: .ended, reason: .stopped, video: true, audio: true)
        #expect(call.roomEvents().contains(.playerChanged(ended)))
        #expect(participants.map(\.name) == ["Ada"])
        #expect(throws: RoomControlError.noSuchPlayer("player-1")) { try tell(.playing) }
        // Pictures and audio that are on their way come to nobody.
        try play(.green, for: .milliseconds(200))
    }

    @Test("a film does not keep a room: it ends when the last person leaves")
    func roomEnds() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        try tell(.playing)
        _ = call.roomEvents()
        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        let ended = PlayerStatus(
            id: "player-1", name: "Talk", state: .ended, reason: .roomClosed, video: true, audio: true)
        #expect(call.roomEvents().suffix(2) == [.playerChanged(ended), .closed])
        #expect(call.relay.isEmpty && call.relay.state(ofRoom: "demo") == nil)
        try play(.green, for: .milliseconds(200))
    }

    @Test("a film takes a seat, which it gives back")
    func seats() throws {
        let call = VirtualCall { $0.maximumParticipants = 2 }
        try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try call.relay.perform(.startPlayer(id: "player-1", name: "Talk", publisher: nil), room: "demo", now: call.now)
        #expect(throws: JoinError.self) { try call.join("Ben", colour: .red) }
        #expect(throws: RoomControlError.noSeat(reason: "the room has 2 members, which is the most")) {
            try call.relay.perform(
                .startPlayer(id: "player-2", name: "Talk", publisher: nil), room: "demo", now: call.now)
        }
        try call.relay.perform(.endPlayer(id: "player-1", reason: .finished), room: "demo", now: call.now)
        try call.join("Ben", colour: .red)
    }

    @Test("a room has so many players at most, and its state tells them")
    func bounds() throws {
        try call.join("Ada", colour: .red)
        for index in 0..<Room.maximumPlayers {
            try start("player-\(index)")
            call.run(for: .seconds(1))
        }
        #expect(throws: RoomControlError.tooManyPlayers(limit: Room.maximumPlayers)) { try start("player-9") }
        #expect(call.relay.state(ofRoom: "demo")?.players.count == Room.maximumPlayers)
        #expect(throws: RoomControlError.noSuchPlayer("player-9")) {
            try call.relay.perform(.endPlayer(id: "player-9", reason: .stopped), room: "demo", now: call.now)
        }
    }

    @Test("a film whose pictures stop is not shown for ever, one that is shown on is")
    func stale() throws {
        let ada = try call.join("Ada", colour: .red)
        ada.isSilent = true
        try start()
        try tell(.playing)
        try play(.green, for: .seconds(2))
        let picture = PixelBuffer.pattern(.green, dimensions: VideoDimensions(width: 160, height: 90), phase: 1)
        for _ in 0..<20 {
            _ = call.act { relay, now in
                relay.show(picture, rotation: .none, ofPlayer: "player-1", room: "demo", now: now)
            }
            call.run(for: .milliseconds(500))
        }
        #expect(try #require(ada.picture).colour(x: 160, y: 60).resembles(.green))
        call.run(for: .seconds(10))
        #expect(try !#require(ada.picture).colour(x: 160, y: 60).resembles(.green))
    }

    @Test("a publisher that was removed and kept out does not come back, and a locked room takes no stream")
    func publisher() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        let publisher = StreamPublisher(
            grants: .open, client: TransportAddress(ipv4: 0xC000_0201, port: 5000))
        func start(_ id: String, _ publisher: StreamPublisher) throws {
            try call.relay.perform(
                .startPlayer(id: id, name: "Studio", publisher: publisher), room: "demo", now: call.now)
        }
        func moderate(_ what: RoomCommand.Moderation) throws {
            let mo = RoomActor(participant: "m", name: "Mo")
            try call.relay.perform(.moderate(what, by: mo), room: "demo", now: call.now)
        }
        try start("player-1", publisher)
        try moderate(.remove(participant: "player-1", keepOut: true))
        #expect(throws: RoomControlError.notAdmitted(reason: JoinError.keptOut.description)) {
            try start("player-2", publisher)
        }
        let other = StreamPublisher(grants: .open, client: TransportAddress(ipv4: 0xC000_0202, port: 5000))
        for (locked, lobby) in [(true, false), (false, true)] {
            try moderate(.setEntry(locked: locked, lobby: lobby, pin: nil))
            #expect(throws: RoomControlError.notAdmitted(reason: JoinError.locked.description)) {
                try start("player-3", other)
            }
        }
        try start("player-4", StreamPublisher(grants: MemberGrants(role: .moderator), client: nil))
        try moderate(.setEntry(locked: false, lobby: false, pin: nil))
        try start("player-5", other)
    }

    @Test("the pictures of a film are encoded while tracks are recorded, and recorded from a keyframe on")
    func recorded() throws {
        try call.join("Ada", colour: .red)
        try start()
        try tell(.playing)
        let film = try VirtualFilm(.green)
        func play(seconds: Int) throws {
            for _ in 0..<(seconds * 25) {
                try film.show(in: call)
                call.run(for: .milliseconds(40))
            }
        }
        try play(seconds: 1)
        #expect(film.demands.allSatisfy { $0 == nil })
        try call.relay.perform(.startRecording(id: "r1", RecordingRequest()), room: "demo", now: call.now)
        try play(seconds: 2)
        let demand = try #require(film.demands.last ?? nil)
        #expect(demand.tile == call.relay.configuration.canvas && demand.rate > .kilobits(100))
        try call.relay.perform(.endRecording(id: "r1", reason: .stopped), room: "demo", now: call.now)
        try play(seconds: 1)
        #expect(film.demands.last == .some(nil))
        let track = RecordingTrack(participant: "player-1", content: .camera)
        var frames: [SampleBuffer] = []
        while let item = call.relay.pollRecording() {
            if item.track == track, case .video(let sample, _) = item.content { frames.append(sample) }
        }
        #expect(frames.first?.isSync == true)
        #expect(frames.count == 50, "\(frames.count)")
        let times = frames.map(\.presentationTime.seconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.04) < 0.001 })
    }
}

import MediaCore
import MediaFixtures
import RoomAPI
import Testing

@testable import Conference
@testable import PeerConnection

/// The composites for a room's outputs, and the news of them for its members.
@Suite struct RoomOutputTests {
    private static let settings = CompositeSettings(
        size: VideoDimensions(width: 256, height: 144), bitRate: .kilobits(400))
    private let call = VirtualCall()

    private func start(_ id: String, name: String? = nil, _ settings: CompositeSettings = settings) throws {
        try call.relay.perform(.startOutput(id: id, name: name, settings), room: "demo", now: call.now)
    }

    private func end(_ id: String) throws {
        try call.relay.perform(.endOutput(id: id, reason: .stopped), room: "demo", now: call.now)
    }

    private func frames() -> [String: [SampleBuffer]] {
        var frames: [String: [SampleBuffer]] = [:]
        while let item = call.relay.pollRecording() {
            if case .video(let sample, _) = item.content { frames[item.recording, default: []].append(sample) }
        }
        return frames
    }

    private var encoders: Int { call.relay.snapshot(now: call.now).rooms[0].encoding.groups.count }

    @Test("outputs with the same picture share its encoder, each begins with a keyframe, and it goes with the last")
    func shared() throws {
        try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        let before = encoders
        try start("o1")
        call.run(for: .seconds(1))
        try start("o2")
        _ = frames()
        call.run(for: .seconds(1))
        let taken = frames()
        #expect(encoders == before + 1)
        #expect(taken["o2"]?.first?.isSync == true)
        #expect(taken["o1"]?.count ?? 0 >= 14)
        try end("o1")
        call.run(for: .seconds(1))
        #expect(frames()["o1"] == nil && encoders == before + 1)
        try end("o2")
        call.run(for: .seconds(1))
        #expect(frames().isEmpty && encoders == before)
    }

    @Test("everybody is told what an output does, by events and in the state of the room")
    func told() throws {
        try call.join("Ada", colour: .red)
        _ = call.roomEvents()
        try start("o1", name: "Example")
        let connecting = OutputStatus(id: "o1", name: "Example", state: .connecting)
        #expect(call.roomEvents() == [.outputChanged(connecting)])
        #expect(call.relay.state(ofRoom: "demo")?.outputs == [connecting])
        try call.relay.perform(.setOutput(id: "o1", .waiting, reason: .refused), room: "demo", now: call.now)
        let waiting = OutputStatus(id: "o1", name: "Example", state: .waiting, reason: .refused)
        #expect(call.roomEvents() == [.outputChanged(waiting)])
        #expect(call.relay.state(ofRoom: "demo")?.outputs == [waiting])
        try end("o1")
        let ended = OutputStatus(id: "o1", name: "Example", state: .ended, reason: .stopped)
        #expect(call.roomEvents() == [.outputChanged(ended)])
        #expect(call.relay.state(ofRoom: "demo")?.outputs == [])
        #expect(throws: RoomControlError.noSuchOutput("o1")) { try end("o1") }
        #expect(throws: RoomControlError.noSuchOutput("o1")) {
            try call.relay.perform(.setOutput(id: "o1", .live, reason: nil), room: "demo", now: call.now)
        }
    }

    @Test("outputs end with their room, and with the relay, before it is told that the room has ended")
    func roomEnds() throws {
        let ada = try call.join("Ada", colour: .red)
        try start("o1")
        try start("o2")
        _ = call.roomEvents()
        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        let ended = ["o1", "o2"].map { OutputStatus(id: $0, state: .ended, reason: .roomClosed) }
        #expect(call.roomEvents().suffix(3) == ended.map { .outputChanged($0) } + [.closed])
        try call.join("Ben", colour: .red)
        try start("o3")
        _ = call.roomEvents()
        call.relay.close(now: call.now)
        let last = OutputStatus(id: "o3", state: .ended, reason: .shutDown)
        #expect(call.roomEvents().first == .outputChanged(last))
    }

    @Test("a room has so many outputs at most, and one that is refused leaves nothing behind")
    func bounds() throws {
        try call.join("Ada", colour: .red)
        for index in 0..<Room.maximumOutputs {
            try start("o\(index)")
            // A room takes so many changes in a short time.
            call.run(for: .seconds(1))
        }
        #expect(throws: RoomControlError.tooManyOutputs(limit: Room.maximumOutputs)) { try start("more") }
        try end("o0")
        var settings = Self.settings
        settings.layout = ParticipantLayout(.solo(participant: "nobody"))
        #expect(throws: RoomControlError.layoutNamesNobody(participant: "nobody")) { try start("more", settings) }
        #expect(call.relay.state(ofRoom: "demo")?.outputs.count == Room.maximumOutputs - 1)
        try start("more")
    }
}

import MediaCore
import MediaFixtures
import RoomAPI
import Testing

@testable import Conference
@testable import PeerConnection

/// The picture of a room that goes into a recording or a stream.
@Suite struct RoomCompositeTests {
    private static let size = VideoDimensions(width: 256, height: 144)
    private static let settings = CompositeSettings(size: size, bitRate: .kilobits(400))
    private let call = VirtualCall()

    private func record(_ settings: CompositeSettings = settings) throws {
        let request = RecordingRequest(mode: .composite, composite: settings)
        try call.relay.perform(.startRecording(id: "r1", request), room: "demo", now: call.now)
    }

    private func items(_ id: String = "r1") -> [RecordingItem] {
        var items: [RecordingItem] = []
        while let item = call.relay.pollRecording() { items.append(item) }
        return items.filter { $0.recording == id }
    }

    private func frames(_ items: [RecordingItem]) -> [SampleBuffer] {
        items.compactMap { if case .video(let sample, _) = $0.content { sample } else { nil } }
    }

    private func sound(_ items: [RecordingItem]) -> [MediaTime] {
        items.compactMap { if case .audio(_, let time, _) = $0.content { time } else { nil } }
    }

    @Test("a composite has every picture in its own size, with a keyframe at the beginning and every two seconds")
    func keyframes() throws {
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        try record()
        call.run(for: .seconds(10))
        let recorded = frames(items())
        #expect((145...151).contains(recorded.count), "\(recorded.count)")
        #expect(recorded.allSatisfy { $0.format.dimensions == Self.size })
        #expect(recorded.first?.isSync == true)
        let keyframes = recorded.filter(\.isSync).map(\.presentationTime.seconds)
        #expect((5...6).contains(keyframes.count))
        #expect(zip(keyframes, keyframes.dropFirst()).allSatisfy { abs($1 - $0 - 2) < 0.15 })
    }

    @Test("the size stays when the rate is far too low for it")
    func sizeStays() throws {
        let call = VirtualCall { $0.canvas = VideoDimensions(width: 1280, height: 720) }
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        let request = RecordingRequest(
            mode: .composite, composite: CompositeSettings(bitRate: CompositeSettings.bitRates.lowerBound))
        try call.relay.perform(.startRecording(id: "r1", request), room: "demo", now: call.now)
        call.run(for: .seconds(8))
        var sizes: Set<VideoDimensions> = []
        while let item = call.relay.pollRecording() {
            if case .video(let sample, _) = item.content { sizes.insert(sample.format.dimensions) }
        }
        #expect(sizes == [VideoDimensions(width: 1280, height: 720)])
    }

    @Test("its sound has a packet for each 20 ms from the first picture on, also while nobody sends any")
    func sound() throws {
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green, audio: nil)
        call.run(for: .seconds(2))
        try record()
        call.run(for: .seconds(3))
        for client in call.clients { client.isSilent = true }
        call.run(for: .seconds(6))
        let items = items()
        let times = sound(items).map(\.seconds)
        #expect((440...451).contains(times.count), "\(times.count)")
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.02) < 0.0005 })
        let first = try #require(frames(items).first?.presentationTime.seconds)
        #expect(try abs(#require(times.first) - first) < 0.021)
    }

    @Test("it begins with the first picture of somebody, not with an empty one")
    func beginning() throws {
        var first: PixelBuffer?
        call.onComposed = { tick in
            first = first ?? tick.pictures.first { $0.dimensions == Self.size }
        }
        try call.join("Ada", colour: .red)
        try record()
        call.run(for: .seconds(3))
        let picture = try #require(first)
        #expect(picture.colour(x: 128, y: 72).resembles(.red))
        #expect(frames(items()).first?.isSync == true)
    }

    @Test("it begins soon with a picture of now, also where nobody has looked at the only camera so far")
    func beginsAlone() throws {
        var first: PixelBuffer?
        call.onComposed = { tick in
            first = first ?? tick.pictures.first { $0.dimensions == Self.size }
        }
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        ada.colour = .green
        // Between two ticks.
        call.run(for: .milliseconds(1100))
        try record()
        call.run(for: .seconds(3))
        let recorded = items()
        let frame = try #require(recorded.first { if case .video = $0.content { true } else { false } })
        #expect(frame.at < .milliseconds(500), "\(frame.at)")
        #expect(first?.colour(x: 128, y: 72).resembles(.green) == true)
    }

    @Test("it follows the room's layout, or its own choice, and has no mark of the recording")
    func layout() throws {
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        var settings = Self.settings
        settings.layout = ParticipantLayout(.solo(participant: ada.participantID))
        try record(settings)
        var last: PixelBuffer?
        call.onComposed = { tick in last = tick.pictures.first { $0.dimensions == Self.size } ?? last }
        call.run(for: .seconds(2))
        let picture = try #require(last)
        for (x, y) in [(20, 72), (128, 72), (236, 72), (14, 6)] {
            #expect(picture.colour(x: x, y: y).resembles(.red))
        }
        #expect(call.relay.state(ofRoom: "demo")?.recording == RecordingStatus(id: "r1", state: .recording))
        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        call.run(for: .seconds(3))
        #expect(last?.colour(x: 128, y: 72).resembles(.green) == true)
    }

    @Test("recordings and streams of the same settings share an encoder; each begins with a keyframe")
    func shared() throws {
        try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        let before = call.relay.snapshot(now: call.now).rooms[0].encoding.groups.count
        try record()
        call.run(for: .seconds(1))
        try call.relay.perform(.startStream(id: "s1", Self.settings), room: "demo", now: call.now)
        var streamed: [RecordingItem] = []
        call.run(for: .seconds(1))
        while let item = call.relay.pollRecording() { if item.recording == "s1" { streamed.append(item) } }
        #expect(call.relay.snapshot(now: call.now).rooms[0].encoding.groups.count == before + 1)
        #expect(frames(streamed).first?.isSync == true)
        #expect(try #require(frames(streamed).first).presentationTime.seconds < 0.6)
        try call.relay.perform(.endStream(id: "s1"), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(frames(items()).count >= 14)
        try call.relay.perform(.endRecording(id: "r1", reason: .stopped), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(call.relay.snapshot(now: call.now).rooms[0].encoding.groups.count == before)
        #expect(items().isEmpty)
    }

    @Test("after frames were lost on their way to the disk it goes on with a keyframe at once")
    func lost() throws {
        try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        try record()
        call.run(for: .milliseconds(2900))
        _ = items()
        call.relay.recordingLostFrames(of: .composite, recording: "r1", room: "demo", now: call.now)
        call.run(for: .milliseconds(700))
        let resumed = frames(items())
        #expect(resumed.first?.isSync == true)
        #expect(resumed.count >= 5)
    }

    @Test("a layout that names somebody who is not there is refused, and nothing is recorded")
    func refused() throws {
        try call.join("Ada", colour: .red)
        var settings = Self.settings
        settings.layout = ParticipantLayout(.solo(participant: "nobody"))
        #expect(throws: RoomControlError.layoutNamesNobody(participant: "nobody")) { try record(settings) }
        #expect(call.relay.state(ofRoom: "demo")?.recording == nil)
        try record()
    }

    @Test("everybody is told of a live stream, by events and in the state of the room, until it or the room ends")
    func streamTold() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        func start(_ id: String) throws {
            try call.relay.perform(.startStream(id: id, CompositeSettings()), room: "demo", now: call.now)
        }
        let (live, ended) = (StreamStatus(.live, ofRoom: "demo"), StreamStatus(.ended, ofRoom: "demo"))
        _ = call.roomEvents()
        try start("s1")
        #expect(call.roomEvents() == [.streamChanged(live)])
        #expect(call.relay.state(ofRoom: "demo")?.stream == live)
        #expect(live.playlist == "/rooms/demo/stream/index.m3u8")
        for _ in 0..<2 { try call.relay.perform(.endStream(id: "s1"), room: "demo", now: call.now) }
        #expect(call.roomEvents() == [.streamChanged(ended)])
        #expect(call.relay.state(ofRoom: "demo")?.stream == nil)
        try start("s2")
        _ = call.roomEvents()
        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        #expect(call.roomEvents().suffix(2) == [.streamChanged(ended), .closed])
    }
}

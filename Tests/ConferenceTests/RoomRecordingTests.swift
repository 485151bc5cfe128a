import MediaCore
import MediaFixtures
import NIOCore
import RoomAPI
import SDP
import Testing

@testable import Conference
@testable import PeerConnection

/// The items that a room hands out to be recorded, and the participants' view of the recording.
@Suite struct RoomRecordingTests {
    private let call = VirtualCall()

    private func start(_ id: String = "r1") throws {
        try call.relay.perform(.startRecording(id: id, RecordingRequest()), room: "demo", now: call.now)
    }

    private func items() -> [RecordingItem] {
        var items: [RecordingItem] = []
        while let item = call.relay.pollRecording() { items.append(item) }
        return items
    }

    private func frames(_ items: [RecordingItem], of client: TestClient, _ content: RecordingTrack.Content = .camera)
        -> [SampleBuffer]
    {
        let track = RecordingTrack(participant: client.participantID, content: content)
        return items.compactMap { item in
            guard item.track == track, case .video(let sample, _) = item.content else { return nil }
            return sample
        }
    }

    @Test("each frame that a camera sends is recorded from a keyframe on, one after the other")
    func frames() throws {
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        try start()
        call.run(for: .seconds(5))
        let recorded = frames(items(), of: ada)
        #expect(recorded.first?.isSync == true)
        #expect((65...75).contains(recorded.count), "\(recorded.count)")
        let times = recorded.map(\.presentationTime.seconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 1.0 / 15) < 0.002 })
    }

    @Test("the mix has a packet for each 20 ms, also where the two in a call hear each other's packets")
    func mix() throws {
        let call = VirtualCall { $0.forwarding = .auto }
        try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(3))
        try call.relay.perform(.startRecording(id: "r1", RecordingRequest()), room: "demo", now: call.now)
        call.run(for: .seconds(4))
        var times: [MediaTime] = []
        while let item = call.relay.pollRecording() {
            if item.track == .mix, case .audio(_, let time, _) = item.content { times.append(time) }
        }
        #expect((190...201).contains(times.count), "\(times.count)")
        #expect(zip(times, times.dropFirst()).allSatisfy { abs(($1 - $0).seconds - 0.02) < 0.001 })
    }

    @Test("each Opus packet is recorded as it was sent")
    func audio() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        let before = ada.sentAudio.count
        call.run(for: .seconds(2))
        let track = RecordingTrack(participant: ada.participantID, content: .audio)
        let packets = items().compactMap { item -> ByteBuffer? in
            guard item.track == track, case .audio(let payload, _, _) = item.content else { return nil }
            return payload.contiguous()
        }
        #expect(packets.count >= 98)
        let sent = ada.sentAudio[(before - 2)...]
        #expect(packets.allSatisfy { sent.contains($0) })
    }

    @Test("everybody is told by events, in the state of the room, and when it is over")
    func told() throws {
        try call.join("Ada", colour: .red)
        _ = call.roomEvents()
        try start()
        let recording = RecordingStatus(id: "r1", state: .recording)
        #expect(call.roomEvents() == [.recordingChanged(recording)])
        #expect(call.relay.state(ofRoom: "demo")?.recording == recording)
        #expect(throws: RoomControlError.isRecorded(recording: "r1")) { try start("r2") }
        #expect(throws: RoomControlError.noSuchRecording("r2")) {
            try call.relay.perform(.endRecording(id: "r2", reason: .stopped), room: "demo", now: call.now)
        }
        try call.relay.perform(.endRecording(id: "r1", reason: .stopped), room: "demo", now: call.now)
        #expect(call.roomEvents() == [.recordingChanged(RecordingStatus(id: "r1", state: .ended, reason: .stopped))])
        #expect(call.relay.state(ofRoom: "demo")?.recording == nil)
    }

    @Test("a recording ends with its room")
    func roomEnds() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        call.run(for: .seconds(1))
        _ = call.roomEvents()
        _ = call.relay.leave(room: "demo", participant: ada.participantID, now: call.now)
        #expect(
            call.roomEvents().suffix(2)
                == [.recordingChanged(RecordingStatus(id: "r1", state: .ended, reason: .roomClosed)), .closed])
    }

    @Test("a camera whose owner says that it is off is not recorded, and goes on with a keyframe")
    func cameraOff() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        call.run(for: .seconds(2))
        let off = MediaState(camera: false)
        try call.relay.perform(.setMediaState(off, participant: ada.participantID), room: "demo", now: call.now)
        _ = items()
        call.run(for: .seconds(2))
        #expect(frames(items(), of: ada).isEmpty)
        let on = MediaState(camera: true)
        try call.relay.perform(.setMediaState(on, participant: ada.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(2))
        let resumed = frames(items(), of: ada)
        #expect(resumed.first?.isSync == true)
        #expect(resumed.count > 20)
    }

    private func audioCount(of client: TestClient) -> Int {
        let track = RecordingTrack(participant: client.participantID, content: .audio)
        return items().count { item in
            if case .audio = item.content { item.track == track } else { false }
        }
    }

    private func moderate(_ client: TestClient, _ wanted: MemberModeration) throws {
        try call.relay.perform(
            .moderate(.member(wanted, participant: client.participantID), by: RoomActor(name: "Mo")), room: "demo",
            now: call.now)
    }

    @Test(
        "audio that is not heard, because its owner or a moderator muted it, is not recorded", arguments: [true, false])
    func muted(byOwner isOwn: Bool) throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        call.run(for: .seconds(1))
        #expect(audioCount(of: ada) >= 45)
        func setMuted(_ isMuted: Bool) throws {
            if isOwn {
                let state = MediaState(microphone: !isMuted)
                try call.relay.perform(
                    .setMediaState(state, participant: ada.participantID), room: "demo", now: call.now)
            } else {
                try moderate(ada, MemberModeration(microphone: isMuted ? .muted : .allowed))
            }
        }
        try setMuted(true)
        _ = items()
        call.run(for: .seconds(1))
        #expect(audioCount(of: ada) == 0)
        try setMuted(false)
        call.run(for: .seconds(2))
        #expect((85...101).contains(audioCount(of: ada)))
    }

    @Test("a camera that a moderator turned off goes on with a keyframe in a new file")
    func cameraModerated() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        call.run(for: .seconds(1))
        _ = items()
        try moderate(ada, MemberModeration(camera: .off))
        call.run(for: .seconds(1))
        let meanwhile = items()
        #expect(frames(meanwhile, of: ada).isEmpty)
        #expect(meanwhile.contains { if case .trackEnded = $0.content { $0.track.content == .camera } else { false } })
        try moderate(ada, MemberModeration(camera: .allowed))
        call.run(for: .seconds(2))
        #expect(frames(items(), of: ada).first?.isSync == true)
    }

    @Test("a recorded sender is asked for the whole canvas, however small it is shown")
    func requestedRate() throws {
        let canvas = VideoDimensions(width: 1280, height: 720)
        let call = VirtualCall { $0.canvas = canvas }
        let ada = try call.join(
            "Ada", colour: .red, video: .sendOnly, dimensions: VideoDimensions(width: 320, height: 180))
        for index in 1...8 { try call.join("Ben \(index)", colour: .green, video: .sendOnly) }
        try call.join("Cy", video: .receiveOnly)
        call.run(for: .seconds(4))
        func rate() -> Int64? {
            call.relay.state(ofRoom: "demo")?.tiles.first { $0.participant == ada.participantID }?.bitRate
        }
        let before = try #require(rate())
        try call.relay.perform(.startRecording(id: "r1", RecordingRequest()), room: "demo", now: call.now)
        call.run(for: .seconds(4))
        let after = try #require(rate())
        #expect(after > before * 2)
        let usual = UplinkPrice.rate(ofTile: canvas, frameRate: 15, content: .camera)
        #expect(after == usual.bitsPerSecond)
    }

    @Test("a source that nobody sees is recorded without a gap")
    func unseen() throws {
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        let layout = RoomLayout(.grid, hidden: [ada.participantID])
        try call.relay.perform(.setLayout(layout), room: "demo", now: call.now)
        call.run(for: .seconds(6))
        try start()
        call.run(for: .seconds(4))
        #expect((50...60).contains(frames(items(), of: ada).count))
    }

    @Test("a stream that changes its size goes on, in another format and with a keyframe")
    func sizeChange() throws {
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        try start()
        call.run(for: .seconds(2))
        ada.dimensions = VideoDimensions(width: 90, height: 160)
        call.run(for: .seconds(2))
        let recorded = frames(items(), of: ada)
        #expect((50...60).contains(recorded.count), "\(recorded.count)")
        let times = recorded.map(\.presentationTime.seconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 1.0 / 15) < 0.002 })
        let first = try #require(recorded.first { $0.format != recorded[0].format })
        #expect(first.isSync)
        #expect(first.format.dimensions == VideoDimensions(width: 90, height: 160))
    }

    @Test("a screen that is shown a second time is recorded a second time, from a keyframe, and the camera goes on")
    func screenAgain() throws {
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(2))
        try start()
        for round in 1...2 {
            try call.renegotiate(ada) { $0.screenShare = OfferParameters.Video(direction: .sendOnly) }
            ada.screenShare = .blue
            call.run(for: .seconds(3))
            ada.screenShare = nil
            try call.renegotiate(ada) { $0.screenShare = nil }
            call.run(for: .seconds(1))
            let items = items()
            let screen = frames(items, of: ada, .screenShare)
            #expect(screen.first?.isSync == true, "round \(round)")
            #expect((35...46).contains(screen.count), "round \(round): \(screen.count)")
            #expect((55...62).contains(frames(items, of: ada).count), "round \(round): \(frames(items, of: ada).count)")
            let ended = items.contains {
                if case .trackEnded = $0.content { $0.track.content == .screenShare } else { false }
            }
            #expect(ended, "round \(round)")
        }
    }

    @Test(
        "a stream that ends, or changes its format, with each keyframe begins about a file a second",
        arguments: [true, false])
    func manyFiles(ends: Bool) {
        let log = RecordingLog()
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        let member = RoomRecorder.Member(id: ParticipantID(rawValue: 1), publicID: "ada")
        for index in 0..<600 {
            let now = MonotonicInstant.zero + Duration.milliseconds(100) * index
            let sample = SampleBuffer(
                data: BlockBuffer(ByteBuffer(bytes: [0])), format: Self.format(ends ? 160 : 160 + 16 * (index % 2)),
                presentationTime: MediaTime(value: Int64(index) * 9000, timescale: 90_000), isSync: true)
            _ = recorder.record(
                ReceivedVideoFrame(sample: sample, firstArrival: now, lastArrival: now), of: member, now: now)
            if ends { recorder.end(.camera, of: member.id, now: now) }
        }
        var files = 0
        var format: VideoFormatDescription?
        while let item = log.popFirst() {
            switch item.content {
            case .video(let sample, _):
                if sample.format != format { files += 1 }
                format = sample.format
            case .trackEnded: format = nil
            case .audio, .anchored: break
            }
        }
        #expect((80...91).contains(files), "\(files)")
    }

    private static func format(_ width: Int) -> VideoFormatDescription {
        let dimensions = VideoDimensions(width: width, height: 90)
        return VideoFormatDescription(
            parameterSets: [ByteBuffer(bytes: [0x67, UInt8(truncatingIfNeeded: width)])],
            properties: .init(
                profileLevel: .init(profileIDC: 0x42, constraintFlags: 0xC0, levelIDC: 0x1E), dimensions: dimensions,
                codedDimensions: dimensions))
    }

    @Test("where nothing is recorded, nothing is handed out")
    func nothing() throws {
        try call.join("Ada", colour: .red)
        call.run(for: .seconds(2))
        #expect(items().isEmpty)
    }
}

import MediaCore
import NIOCore
import PeerConnection
import RoomAPI
import Testing

@testable import Conference

/// A recorder's items of streams that are silent for hours, jump, turn, or lose frames.
@Suite struct RoomRecorderTests {
    private static let format = VideoFormatDescription(
        parameterSets: [],
        properties: .init(
            profileLevel: .init(profileIDC: 66, constraintFlags: 0xC0, levelIDC: 31),
            dimensions: VideoDimensions(width: 160, height: 90),
            codedDimensions: VideoDimensions(width: 160, height: 96)))
    private let member = RoomRecorder.Member(id: ParticipantID(rawValue: 1), publicID: "ada")
    private let log = RecordingLog()

    /// A packet of 20 ms. Its sender counts on while the room does not hear it.
    private func packet(at time: Duration) -> ReceivedAudioPacket {
        let index = time.nanoseconds / 20_000_000
        return ReceivedAudioPacket(
            payload: ByteBuffer(bytes: [0xF8, 0xFF, 0xFE]), rtpTimestamp: UInt32(truncatingIfNeeded: index * 960),
            sequence: index, level: nil, arrival: .zero + time)
    }

    private func frame(
        at time: Duration, isSync: Bool, rotation: VideoRotation = .none
    ) -> ReceivedVideoFrame {
        let arrival = MonotonicInstant.zero + time
        return ReceivedVideoFrame(
            sample: SampleBuffer(
                data: BlockBuffer(), format: Self.format,
                presentationTime: MediaTime(value: time.nanoseconds / 100_000 * 9, timescale: 90_000), isSync: isSync),
            firstArrival: arrival, lastArrival: arrival, rotation: rotation)
    }

    /// The times of the samples in seconds, with -1 for each end of the track.
    private func times() -> [Double] {
        var times: [Double] = []
        while let item = log.popFirst() {
            switch item.content {
            case .audio(_, let time, _): times.append(time.seconds)
            case .video(let sample, _): times.append(sample.presentationTime.seconds)
            case .trackEnded: times.append(-1)
            case .anchored: continue
            }
        }
        return times
    }

    @Test("a microphone goes on in another file after half a day, and in the same one after some minutes")
    func audio() {
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        for pause in [Duration.seconds(600), .seconds(13 * 3600)] {
            recorder.record(packet(at: pause), of: member)
            recorder.record(packet(at: pause + .milliseconds(20)), of: member)
        }
        #expect(times() == [600, 600.02, -1, 46_800, 46_800.02])
        recorder.record(packet(at: .seconds(47_400)), of: member)
        #expect(times() == [47_400])
    }

    @Test("a camera goes on in another file after half a day, with a keyframe that it is asked for")
    func video() {
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        func record(at time: Duration, isSync: Bool) -> Bool {
            recorder.record(frame(at: time, isSync: isSync), of: member, now: .zero + time)
        }
        #expect(!record(at: .seconds(10), isSync: true))
        #expect(!record(at: .seconds(600), isSync: false))
        #expect(record(at: .seconds(46_800), isSync: false))
        #expect(!record(at: .seconds(46_801), isSync: true))
        #expect(times() == [10, 600, -1, 46_801])
    }

    @Test("a camera whose frames did not get to the disk goes on with a keyframe, asked for once a second")
    func lostFrames() {
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        func record(at milliseconds: Int, isSync: Bool = false) -> Bool {
            let time = Duration.milliseconds(milliseconds)
            return recorder.record(frame(at: time, isSync: isSync), of: member, now: .zero + time)
        }
        #expect(!record(at: 0, isSync: true) && !record(at: 40))
        recorder.lostFrames(of: RecordingTrack(participant: "ada", content: .camera))
        #expect([80, 120, 1080, 1120].map { record(at: $0) } == [true, false, true, false])
        #expect(!record(at: 1160, isSync: true) && !record(at: 1200))
        #expect(times() == [0, 0.04, 1.16, 1.2])
    }

    @Test("a sender whose clock jumps with each packet fills no timeline, and all its packets are recorded")
    func jumpingClock() {
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        for index in 0..<500 {
            var packet = self.packet(at: .milliseconds(20 * index))
            packet.rtpTimestamp = index.isMultiple(of: 2) ? 0 : 1 << 24
            recorder.record(packet, of: member)
        }
        recorder.finish(now: .zero + .seconds(10))
        var (anchors, packets) = (0, 0)
        while let item = log.popFirst() {
            switch item.content {
            case .anchored: anchors += 1
            case .audio: packets += 1
            case .video, .trackEnded: continue
            }
        }
        #expect((30...45).contains(anchors) && packets == 500)
    }

    @Test("a camera that turns with each picture fills no timeline, and at last it is recorded as it is")
    func spinningCamera() {
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        func record(_ rotation: VideoRotation, at time: Duration) {
            _ = recorder.record(frame(at: time, isSync: true, rotation: rotation), of: member, now: .zero + time)
        }
        for index in 0..<500 {
            record(index.isMultiple(of: 2) ? .clockwise90 : .none, at: .milliseconds(20 * index))
        }
        record(.rotate180, at: .seconds(12))
        var rotations = [VideoRotation.none]
        while let item = log.popFirst() {
            if case .video(_, let rotation) = item.content, rotation != rotations.last { rotations.append(rotation) }
        }
        #expect((30...45).contains(rotations.count) && rotations.last == .rotate180)
    }
}

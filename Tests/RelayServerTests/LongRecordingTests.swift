import AudioMixing
import Foundation
import MediaCore
import NIOCore
import PeerConnection
import RTP
import RoomAPI
import Testing
import VideoCoding

@testable import Conference
@testable import RoomMedia

/// A call of two hours, as its packets come, in the film that is made of it.
@Suite struct LongRecordingTests {
    private static let film = 30
    private static let duration = 7200.0

    @Test("pictures and sound are within 20 ms of each other in a film of two hours, with clocks 100 ppm apart")
    func synchronism() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("long-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("r1").path
        var call = LongCall(seed: 7)
        try call.record(to: path)
        let film = try RecordingFilm(path: path, canvas: LongCall.canvas, frameRate: Self.film, layout: nil)
        let start = call.firstPicture
        let flashes = try call.flashes.filter { $0 < Self.duration - 10 }.compactMap { moment in
            try flash(near: moment - start, of: film).map { (moment, $0 + start - moment) }
        }
        let recording = try RecordingReader(path: path)
        let sound = ArchiveSound(
            recording.files, folder: path, start: recording.files.first { $0.track.content.isVideo }?.start ?? 0,
            duration: film.duration)
        let beeps = call.late(try begins(of: sound).map { $0 + start })
        var (worst, count) = (0.0, 0)
        for (moment, late) in flashes {
            guard call.hasSettled(at: moment),
                let beep = beeps.min(by: { abs($0.moment - moment) < abs($1.moment - moment) }),
                abs(beep.moment - moment) < 6
            else { continue }
            worst = max(worst, abs(late - beep.late))
            count += 1
        }
        #expect(count >= 600, "\(count) of \(flashes.count) flashes, \(beeps.count) beeps")
        #expect(worst <= 0.02, "\(worst * 1000) ms")
    }

    /// When the film becomes bright within half a second of a time.
    private func flash(near time: Double, of film: RecordingFilm) throws -> Double? {
        let first = max(0, Int(time * Double(Self.film)) - Self.film / 4)
        var wasDark = false
        for frame in first..<(first + Self.film / 2) {
            let picture = try film.picture(at: MediaTime(value: Int64(frame), timescale: Int32(Self.film)))
            let isBright = picture.withPlane(0) { bytes, stride in
                bytes[LongCall.canvas.height / 2 * stride + LongCall.canvas.width / 2] > 160
            }
            if isBright, wasDark { return Double(frame) / Double(Self.film) }
            wasDark = !isBright
        }
        return nil
    }

    /// When the sound begins after silence.
    private func begins(of sound: ArchiveSound) throws -> [Double] {
        var begins: [Double] = []
        var (quiet, position) = (24_001, 0)
        while let samples = try sound.next() {
            for sample in samples {
                if abs(sample) < 0.1 {
                    quiet += 1
                } else {
                    if quiet > 24_000 { begins.append(Double(position) / 48_000) }
                    quiet = 0
                }
                position += 1
            }
        }
        return begins
    }
}

/// A participant who flashes and beeps each ten seconds, by clocks that run 50 ppm too fast (video) and too slow
/// (audio), over a network that delays and loses packets. The camera takes 40 ms longer to its packets than the
/// microphone. Two times the connection is lost and made anew; between, the microphone is muted for minutes.
private struct LongCall {
    static let canvas = VideoDimensions(width: 64, height: 48)
    private static let frameRate = 5
    private static let period = 10
    private static let videoSkew = 50e-6
    private static let audioSkew = -50e-6
    private static let encoding = 0.04
    /// The stretches during which there is a connection, in seconds.
    private static let stretches = [(0.0, 2710.0), (2718.0, 5400.0), (5404.0, 7200.0)]
    private static let mutes = [(1200.0, 1500.0), (3600.0, 4260.0)]
    /// So long after its beginning a connection's reports have put pictures and audio together.
    private static let settling = 10.0

    /// When there was a flash, and when a beep, in seconds of the room's clock.
    private(set) var flashes: [Double] = []
    private(set) var beeps: [Double] = []
    private(set) var firstPicture = 0.0
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func hasSettled(at moment: Double) -> Bool {
        Self.stretches.contains { $0.0 + Self.settling <= moment && moment < $0.1 }
    }

    /// The delay of each beep that is heard.
    func late(_ heard: [Double]) -> [(moment: Double, late: Double)] {
        beeps.compactMap { moment in
            guard let nearest = heard.min(by: { abs($0 - moment) < abs($1 - moment) }), abs(nearest - moment) < 1 else {
                return nil
            }
            return (moment, nearest - moment)
        }
    }

    // MARK: Recording

    mutating func record(to path: String) throws {
        let writer = RecordingFolder(
            path: path, manifest: RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"),
            files: SystemRecordingFiles(), minimumFreeSpace: .zero, now: .zero)
        try writer.open()
        let log = RecordingLog()
        let recorder = RoomRecorder(id: "r1", log: log, now: .zero)
        let pictures = try Self.encodedPictures()
        let packets = try Self.encodedAudio()
        let ada = RecordedParticipant(
            id: "ada", name: "Ada", microphone: true, camera: true, screenShare: false, isSpeaking: false)
        for (index, (begin, end)) in Self.stretches.enumerated() {
            try writer.write(.joined(ada), at: begin)
            let member = RoomRecorder.Member(id: ParticipantID(rawValue: UInt64(index) + 1), publicID: "ada")
            var events = video(pictures, from: begin, to: end) + audio(packets, from: begin, to: end)
            events.sort { $0.arrival < $1.arrival }
            for event in events {
                switch event.content {
                case .frame(let frame): _ = recorder.record(frame, of: member, now: frame.lastArrival)
                case .packet(let packet): recorder.record(packet, of: member)
                }
                while let item = log.popFirst() {
                    if firstPicture == 0, case .video(let sample, _) = item.content {
                        firstPicture = sample.presentationTime.seconds
                    }
                    try writer.write(item, now: event.arrival)
                }
            }
            let left = MonotonicInstant.zero + .seconds(clamping: end)
            recorder.remove(member.id, now: left)
            while let item = log.popFirst() { try writer.write(item, now: left) }
            try writer.write(.left(participant: "ada"), at: end)
        }
        writer.close(.stopped, at: .seconds(7200), ended: "2026-01-01T02:00:00Z")
    }

    private struct Event {
        enum Content {
            case frame(ReceivedVideoFrame)
            case packet(ReceivedAudioPacket)
        }
        var arrival: MonotonicInstant
        var content: Content
    }

    /// The network's delay: 10 ms, and up to 60 ms more for three packets of four.
    private mutating func delay() -> Double {
        0.01 + (UInt8.random(in: 0..<4, using: &random) == 0 ? 0 : Double.random(in: 0..<0.06, using: &random))
    }

    private static func instant(_ seconds: Double) -> MonotonicInstant { .zero + .seconds(clamping: seconds) }

    /// The sender's wall clock is an hour fast.
    private static let wallClock = WallClock(ntpAtOrigin: NTPTime(unixTime: .seconds(1_800_003_600)))

    private mutating func video(_ pictures: [SampleBuffer], from begin: Double, to end: Double) -> [Event] {
        var events: [Event] = []
        var reception = ReceptionStatistics(clockRate: 90_000)
        let origin = UInt32.random(in: 0...(.max), using: &random)
        for index in 0..<Int((end - begin) * Double(Self.frameRate)) {
            let captured = begin + Double(index) / Double(Self.frameRate) / (1 + Self.videoSkew)
            let value = Int64(origin) + Int64(index) * 90_000 / Int64(Self.frameRate)
            if index % (Self.frameRate * Self.period) == 0 { flashes.append(captured) }
            if index % Self.frameRate == Self.frameRate - 1 {
                report(&reception, timestamp: UInt32(truncatingIfNeeded: value), captured: captured)
            }
            var sample = pictures[index % pictures.count]
            sample.presentationTime = MediaTime(value: value, timescale: 90_000)
            let arrival = Self.instant(captured + Self.encoding + delay())
            events.append(
                Event(
                    arrival: arrival,
                    content: .frame(
                        ReceivedVideoFrame(
                            sample: sample, firstArrival: arrival, lastArrival: arrival,
                            senderTime: reception.ntpTime(atTimestamp: UInt32(truncatingIfNeeded: value))))))
        }
        return events
    }

    private mutating func audio(_ packets: [ByteBuffer], from begin: Double, to end: Double) -> [Event] {
        var events: [Event] = []
        var reception = ReceptionStatistics(clockRate: 48_000)
        let origin = UInt32.random(in: 0...(.max), using: &random)
        for index in 0..<Int((end - begin) * 50) {
            let captured = begin + Double(index) / 50 / (1 + Self.audioSkew)
            let timestamp = origin &+ UInt32(index * AudioFormat.frameSampleCount)
            // libwebrtc reports on audio each five seconds.
            if index % 250 == 249 { report(&reception, timestamp: timestamp, captured: captured) }
            guard !Self.mutes.contains(where: { $0.0 <= captured && captured < $0.1 }) else { continue }
            if index % (50 * Self.period) == 0 { beeps.append(captured) }
            // A loss of 1 %, but not where a beep begins.
            guard index % (50 * Self.period) == 0 || UInt8.random(in: 0..<100, using: &random) > 0 else { continue }
            let arrival = Self.instant(captured + 0.02 + delay())
            events.append(
                Event(
                    arrival: arrival,
                    content: .packet(
                        ReceivedAudioPacket(
                            payload: packets[index % packets.count], rtpTimestamp: timestamp, sequence: Int64(index),
                            level: nil, arrival: arrival,
                            senderTime: reception.ntpTime(atTimestamp: timestamp)))))
        }
        return events
    }

    private func report(_ reception: inout ReceptionStatistics, timestamp: UInt32, captured: Double) {
        reception.senderReportReceived(
            SenderReport(
                ssrc: 1, ntpTime: Self.wallClock.ntpTime(at: Self.instant(captured)), rtpTimestamp: timestamp,
                packetCount: 0, octetCount: 0), now: Self.instant(captured))
    }

    // MARK: Media

    /// Ten seconds of pictures, of which the first two are bright.
    private static func encodedPictures() throws -> [SampleBuffer] {
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: .kilobits(60), expectedFrameRate: Double(frameRate))
        properties.maxKeyframeInterval = frameRate * period
        let encoder = try CompressionSession(dimensions: canvas, properties: properties) { outputs.append($0) }
        var samples: [SampleBuffer] = []
        for index in 0..<(frameRate * period) {
            var picture = MutablePixelBuffer(format: .i420, dimensions: canvas)
            for plane in 0..<3 {
                picture.withMutablePlane(plane) { bytes, _ in
                    for place in bytes.indices { bytes[place] = plane > 0 ? 128 : index < 2 ? 220 : 60 }
                }
            }
            try encoder.encode(
                picture.freeze(), presentationTime: MediaTime(value: Int64(index), timescale: Int32(frameRate)))
            while let output = outputs.next() { if let frame = output.frame { samples.append(frame.sample) } }
        }
        try #require(samples.count == frameRate * period && samples[0].isSync)
        return samples
    }

    /// Ten seconds of packets, of which the first ones beep.
    private static func encodedAudio() throws -> [ByteBuffer] {
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: .kilobits(32)))
        return try (0..<(50 * period)).map { index in
            try encoder.encode(
                (0..<AudioFormat.frameSampleCount).map { offset in
                    index < 5
                        ? 0.5 * sinf(2 * .pi * 1000 * Float(index * AudioFormat.frameSampleCount + offset) / 48_000) : 0
                })
        }
    }
}

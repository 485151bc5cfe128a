import AudioMixing
import Foundation
import MediaCore
import RoomAPI
import Testing

@testable import RoomMedia

@Suite("The audio of a recorded track")
struct TrackAudioTests {
    private static let frame = AudioFormat.frameSampleCount
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("track-\(UUID())")

    /// Records two seconds of a tone without some of its packets, and plays the recording.
    ///
    /// - Parameter other: The first packet of another stream, of a tone of its own.
    private func play(changingAt other: Int? = nil, losing isLost: (Int) -> Bool) throws -> [Float] {
        defer { try? FileManager.default.removeItem(at: folder) }
        let writer = RecordingFolder(
            path: folder.path, manifest: RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"),
            files: SystemRecordingFiles(), minimumFreeSpace: .zero, now: .zero)
        try writer.open()
        let track = RecordingTrack(participant: "ada", content: .audio)
        var frequency: Float = 440
        var encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.1))
        for index in 0..<100 {
            if index == other {
                try writer.write(
                    RecordingItem(
                        recording: "r1", track: track, at: .milliseconds(20 * index), content: .trackEnded), now: .zero)
                frequency = 310
                encoder = try OpusEncoder(settings: encoder.settings)
            }
            let samples = (0..<Self.frame).map {
                0.3 * sinf(2 * .pi * frequency * Float((index * Self.frame + $0) % 48_000) / 48_000)
            }
            let payload = try encoder.encode(samples)
            guard !isLost(index) else { continue }
            let time = MediaTime(value: Int64(index * Self.frame), timescale: 48_000)
            try writer.write(
                RecordingItem(
                    recording: "r1", track: track, at: time.duration,
                    content: .audio(
                        BlockBuffer(payload), time: time,
                        duration: MediaTime(value: Int64(Self.frame), timescale: 48_000))), now: .zero)
        }
        writer.close(.stopped, at: .seconds(2), ended: "2026-01-01T00:00:02Z")
        let audio = try TrackAudio(RecordingReader(path: folder.path).files, folder: folder.path, start: 0)
        return try (0..<110).flatMap { _ in try audio.take(Self.frame) }
    }

    /// The largest third difference of neighbouring samples: that of a step is twice the step, that of the tone small.
    private func roughness(of samples: [Float]) -> Float {
        samples.indices.dropFirst(3).reduce(0) { largest, index in
            let ends = samples[index] - samples[index - 3]
            return max(largest, abs(ends - 3 * (samples[index - 1] - samples[index - 2])))
        }
    }

    @Test("conceals packets that were lost")
    func loss() throws {
        let played = try play { $0 > 20 && $0 % 10 < 2 }
        #expect(roughness(of: played) < 0.03)
        let holes = stride(from: 9600, to: 90_000, by: Self.frame).count { start in
            played[start..<(start + Self.frame)].allSatisfy { abs($0) < 0.05 }
        }
        #expect(holes == 0)
    }

    @Test("fades out before a pause and at the end, and in after a pause")
    func pause() throws {
        let played = try play { (40..<60).contains($0) }
        #expect(roughness(of: played) < 0.03)
        #expect(played[42_000..<57_000].allSatisfy { $0 == 0 })
        #expect(played[60_000..<95_000].contains { $0 > 0.25 })
    }

    @Test("fades from one stream to another that follows it, at once or after a loss", arguments: [0, 1, 2])
    func change(lost: Int) throws {
        let played = try play(changingAt: 50) { (50 - lost..<50).contains($0) }
        #expect(roughness(of: played) < 0.03)
        #expect(played[60_000..<95_000].contains { $0 > 0.25 })
    }

    @Test("leaves out what was heard before the film begins, and no more")
    func beforeFilm() {
        var placement = AudioPlacement()
        #expect(placement.place(Self.frame, at: -5) == AudioPlacement.Step(omitted: Self.frame))
        #expect(placement.end == 0)
        #expect(placement.place(Self.frame, at: -0.0125) == AudioPlacement.Step(omitted: 600))
        #expect(placement.end == 360)
    }
}

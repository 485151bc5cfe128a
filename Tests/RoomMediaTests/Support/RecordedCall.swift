import AudioMixing
import Foundation
import MediaCore
import RoomAPI
import VideoCoding

@testable import RoomMedia

/// Makes recordings of a call on the disk, as the relay does.
struct RecordedCall {
    static let canvas = VideoDimensions(width: 160, height: 90)
    static let frameRate = 15
    private let folder: URL

    /// - Parameter folder: That of all recordings.
    init(in folder: URL) {
        self.folder = folder
    }

    /// A recording of somebody whose picture flashes and who beeps, both at the beginning of each second. The sender's
    /// audio clock runs 100 ppm faster than that of the pictures.
    ///
    /// - Parameter isKilled: True if the relay ends before it completes the recording.
    @discardableResult
    func record(seconds: Int, isKilled: Bool = false) throws -> String {
        let path = folder.appendingPathComponent("r1").path
        let writer = RecordingFolder(
            path: path, manifest: RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"),
            files: SystemRecordingFiles(), minimumFreeSpace: .zero, now: .zero)
        try writer.open()
        let ada = RecordedParticipant(
            id: "ada", name: "Ada", microphone: true, camera: true, screenShare: false, isSpeaking: false)
        try writer.write(.joined(ada), at: 0)
        try recordVideo(seconds: seconds, to: writer)
        try recordAudio(seconds: seconds, to: writer)
        if isKilled { return path }
        writer.close(.stopped, at: .seconds(seconds), ended: "2026-01-01T00:01:00Z")
        return path
    }

    private func recordVideo(seconds: Int, to writer: RecordingFolder) throws {
        let outputs = EncodeOutputQueue()
        var properties = CompressionProperties(averageBitRate: .kilobits(300), expectedFrameRate: 15)
        properties.maxKeyframeInterval = 60
        let encoder = try CompressionSession(dimensions: Self.canvas, properties: properties) { outputs.append($0) }
        let dark = (0..<16).map { Self.picture(luma: 40, seed: $0) }
        let bright = (0..<16).map { Self.picture(luma: 200, seed: $0) }
        let track = RecordingTrack(participant: "ada", content: .camera)
        for index in 0..<(seconds * Self.frameRate) {
            let time = MediaTime(value: Int64(index), timescale: Int32(Self.frameRate))
            try encoder.encode(
                (index % Self.frameRate < 2 ? bright : dark)[index % 16], presentationTime: time)
            while let output = outputs.next() {
                guard let frame = output.frame else { continue }
                try writer.write(
                    RecordingItem(
                        recording: "r1", track: track, at: time.duration, content: .video(frame.sample, .none)),
                    now: .zero)
            }
        }
    }

    private func recordAudio(seconds: Int, to writer: RecordingFolder) throws {
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: .kilobits(48)))
        let track = RecordingTrack(participant: "ada", content: .audio)
        let frame = AudioFormat.frameSampleCount
        for index in 0..<(seconds * 50) {
            let samples = (0..<frame).map { offset -> Float in
                let sample = index * frame + offset
                // On the sender's clock, a second has a few samples more.
                let second = Double(sample) / (48_000 * (1 + 100e-6))
                return second.truncatingRemainder(dividingBy: 1) < 0.13
                    ? 0.5 * sinf(2 * .pi * 1000 * Float(sample % 48_000) / 48_000) : 0
            }
            let time = Double(index * frame) / 48_000 / (1 + 100e-6)
            try writer.write(
                RecordingItem(
                    recording: "r1", track: track, at: .seconds(clamping: time),
                    content: .audio(
                        BlockBuffer(try encoder.encode(samples)),
                        time: MediaTime(seconds: time, timescale: 48_000),
                        duration: MediaTime(value: Int64(frame), timescale: 48_000))), now: .zero)
        }
    }

    /// A grey with noise, so that there is something to encode.
    private static func picture(luma: Int, seed: Int) -> PixelBuffer {
        var random = SeededGenerator(seed: UInt64(seed))
        var buffer = MutablePixelBuffer(format: .i420, dimensions: canvas)
        for plane in 0..<3 {
            buffer.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices {
                    bytes[index] = plane == 0 ? UInt8(clamping: luma + Int.random(in: -15...15, using: &random)) : 128
                }
            }
        }
        return buffer.freeze()
    }
}

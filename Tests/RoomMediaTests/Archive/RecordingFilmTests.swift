import AudioMixing
import Compositing
import Foundation
import MediaCore
import MediaFiles
import RoomAPI
import Testing
import VideoCoding

@testable import RoomMedia

/// Films that are made of recordings.
@Suite(.serialized) struct RecordingFilmTests {
    private static let canvas = RecordedCall.canvas
    private static let frameRate = RecordedCall.frameRate
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("film-\(UUID())")

    private func film() throws -> RecordingFilm {
        try RecordingFilm(
            path: folder.appendingPathComponent("r1").path, canvas: Self.canvas, frameRate: Self.frameRate, layout: nil)
    }

    @Test("pictures and sound stay within 20 ms of each other, and the film has the size that was asked for")
    func synchronism() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let seconds = 60
        _ = try RecordedCall(in: folder).record(seconds: seconds)
        let path = folder.appendingPathComponent("film.mp4").path
        let size = DataSize(bytes: 1_600_000)
        let session = ExportSession(
            source: try film(),
            settings: ExportSettings(dimensions: Self.canvas, frameRate: Self.frameRate, target: .size(size)),
            path: path)
        var passes = 0
        try session.run(onProgress: { passes = max(passes, $0.pass) })
        let flashes = try flashes(in: path)
        let beeps = try beeps(in: path)
        #expect(flashes.count >= seconds - 1 && beeps.count >= seconds - 1)
        for (flash, beep) in zip(flashes, beeps) { #expect(abs(flash - beep) <= 0.02, "\(flash) s, \(beep) s") }
        #expect(!FileManager.default.fileExists(atPath: session.workFolder))
        let written = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        #expect(abs(written - size.bytes) <= size.bytes / 200, "\(written) bytes in \(passes) passes")
    }

    @Test("an export into a file that cannot be so small leaves nothing behind")
    func tooSmall() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 4)
        let session = ExportSession(
            source: try film(),
            settings: ExportSettings(
                dimensions: Self.canvas, frameRate: Self.frameRate, target: .size(DataSize(bytes: 1000))),
            path: folder.appendingPathComponent("film.mp4").path)
        #expect(throws: ExportError.self) { try session.run() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["r1"])
    }

    @Test(
        "an export into a place that no file can have fails before any work",
        arguments: ["taken.mp4", "captioned.mp4", "pictured.mp4", "none/", ""])
    func takenNames(name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 1)
        for taken in ["taken.mp4", "captioned.vtt", "pictured.png"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(taken), withIntermediateDirectories: false)
        }
        let path = name.isEmpty ? "" : "\(folder.path)/\(name)"
        let settings = ExportSettings(
            dimensions: Self.canvas, frameRate: Self.frameRate, target: .bitRate(.kilobits(100)))
        var hasBegun = false
        #expect(throws: MediaFileError.self) {
            try ExportSession(source: try film(), settings: settings, path: path).run(onProgress: { _ in
                hasBegun = true
            })
        }
        #expect(!hasBegun && !FileManager.default.fileExists(atPath: ExportSession.workFolder(of: path)))
    }

    @Test("a film has the loudness of a programme, captions, and a poster of the picture with most to see")
    func companions() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 8)
        let path = folder.appendingPathComponent("film.mp4").path
        let settings = ExportSettings(
            dimensions: Self.canvas, frameRate: Self.frameRate, target: .bitRate(.kilobits(100)))
        var stages: [Int] = []
        try ExportSession(source: try film(), settings: settings, path: path).run(onProgress: { progress in
            if stages.last != progress.pass { stages.append(progress.pass) }
            #expect((0...1).contains(progress.fraction))
            #expect((progress.estimatedOutputSize != nil) == (progress.pass > 1))
        })
        #expect(stages.starts(with: [0, 1]) && stages == stages.sorted())
        #expect(abs(try #require(try loudness(of: path)) - LoudnessMeter.programmeLoudness) < 0.5)
        let captions = try String(contentsOfFile: ExportSession.files(of: path).captions, encoding: .utf8)
        #expect(captions == "WEBVTT\n\n00:00:00.000 --> 00:00:04.000\n<v Ada>Ada joins\n")
        let poster = try #require(FileManager.default.contents(atPath: ExportSession.files(of: path).poster))
        #expect(poster.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["film.mp4", "film.png", "film.vtt", "r1"])
    }

    /// In LUFS.
    private func loudness(of path: String) throws -> Double? {
        let reader = try OpusReader(path: path)
        let decoder = try OpusDecoder()
        let meter = try LoudnessMeter(sampleRate: AudioFormat.sampleRate)
        while let packet = try reader.nextPacket() { meter.add(try decoder.decode(packet.payload)) }
        return meter.integrated
    }

    @Test("what another layout began does not get into a film")
    func otherFilm() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 4)
        let path = folder.appendingPathComponent("film.mp4").path
        func export(layout: LayoutMode?, to path: String, limit: Int) throws -> Data? {
            let film = try RecordingFilm(
                path: folder.appendingPathComponent("r1").path, canvas: Self.canvas, frameRate: Self.frameRate,
                layout: layout)
            var frames = 0
            let settings = ExportSettings(
                dimensions: Self.canvas, frameRate: Self.frameRate, target: .bitRate(.kilobits(100)))
            do {
                try ExportSession(source: film, settings: settings, path: path)
                    .run(isCancelled: { frames >= limit }, onProgress: { if $0.pass > 0 { frames += 1 } })
            } catch ExportError.cancelled {
                return nil
            }
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        let alone = folder.appendingPathComponent("alone.mp4").path
        let expected = try #require(try export(layout: .speaker, to: alone, limit: .max))
        #expect(try export(layout: .pictureInPicture, to: path, limit: 40) == nil)
        #expect(FileManager.default.fileExists(atPath: ExportSession.workFolder(of: path)))
        #expect(try export(layout: .speaker, to: path, limit: .max) == expected)
    }

    @Test("a film is the same picture at a time however it got there")
    func repeatable() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 8)
        let film = try film()
        func bytes(_ frame: Int) throws -> [[UInt8]] {
            let picture = try film.picture(at: MediaTime(value: Int64(frame), timescale: Int32(Self.frameRate)))
            return (0..<3).map { plane in picture.withPlane(plane) { bytes, _ in Array(bytes) } }
        }
        let first = try (0..<120).map(bytes)
        for frame in [90, 91, 92, 10, 11, 119, 0] { #expect(try bytes(frame) == first[frame], "\(frame)") }
        let poster = folder.appendingPathComponent("poster.png").path
        try film.writePoster(to: poster)
        for frame in 0..<120 { #expect(try bytes(frame) == first[frame], "\(frame) after the poster") }
    }

    @Test("the first picture of a film has all names already")
    func names() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let recording = folder.appendingPathComponent("r1")
        try FileManager.default.createDirectory(at: recording, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        var timeline = Data()
        for id in ["a", "b", "c", "d", "e", "f"] {
            let person = RecordedParticipant(
                id: id, name: "Person \(id)", microphone: true, camera: false, screenShare: false, isSpeaking: false)
            var file = RecordedFile(
                path: "tracks/\(id)-camera-001.mp4", track: RecordingTrack(participant: id, content: .camera), start: 0)
            file.duration = 2
            for event in [RecordingTimelineEntry.Event.joined(person), .fileEnded(file)] {
                timeline += try encoder.encode(RecordingTimelineEntry(at: 0, event)) + Data("\n".utf8)
            }
        }
        try timeline.write(to: recording.appendingPathComponent(RecordingManifest.timelineName))
        try encoder.encode(RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"))
            .write(to: recording.appendingPathComponent(RecordingManifest.fileName))
        let film = try RecordingFilm(
            path: recording.path, canvas: VideoDimensions(width: 640, height: 384), frameRate: 30, layout: nil)
        let pictures = try (0..<10 as Range<Int64>).map { frame in
            try film.picture(at: MediaTime(value: frame, timescale: 30)).withPlane(0) { bytes, _ in Array(bytes) }
        }
        #expect(pictures.allSatisfy { $0 == pictures[0] })
    }

    @Test("an export that was cancelled goes on, and makes the same file")
    func resumed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 8)
        func export(_ name: String, cancelledAfter limits: [Int]) throws -> Data {
            let path = folder.appendingPathComponent(name).path
            let settings = ExportSettings(
                dimensions: Self.canvas, frameRate: Self.frameRate, target: .bitRate(.kilobits(100)))
            for limit in limits {
                var frames = 0
                let session = ExportSession(source: try film(), settings: settings, path: path)
                #expect(throws: ExportError.cancelled) {
                    try session.run(isCancelled: { frames >= limit }, onProgress: { if $0.pass > 0 { frames += 1 } })
                }
            }
            try ExportSession(source: try film(), settings: settings, path: path).run()
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        let whole = try export("whole.mp4", cancelledAfter: [])
        #expect(whole.count > 50_000)
        #expect(try export("resumed.mp4", cancelledAfter: [10, 70, 115]) == whole)
    }

    @Test("an export whose frames were lost, as in a power failure, makes all of the film again")
    func lostFrames() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 4)
        let settings = ExportSettings(
            dimensions: Self.canvas, frameRate: Self.frameRate, target: .bitRate(.kilobits(100)))
        func export(to path: String) throws -> Data {
            try ExportSession(source: try film(), settings: settings, path: path).run()
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        let whole = try export(to: folder.appendingPathComponent("whole.mp4").path)
        let path = folder.appendingPathComponent("film.mp4").path
        // With a folder in the poster's place, all is done but for the files' names.
        let poster = ExportSession.files(of: path).poster
        #expect(throws: MediaFileError.self) {
            try ExportSession(source: try film(), settings: settings, path: path).run(onProgress: { _ in
                try? FileManager.default.createDirectory(atPath: poster, withIntermediateDirectories: false)
            })
        }
        try FileManager.default.removeItem(atPath: poster)
        try FileManager.default.removeItem(atPath: ExportSession.workFolder(of: path) + "/frames")
        #expect(try export(to: path) == whole)
    }

    @Test("a film that has no place is refused in the system's words", arguments: ["film.mp4", "calls/film.mp4"])
    func noPlace(name: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 1)
        let file = folder.appendingPathComponent("file")
        try Data().write(to: file)
        let path = file.appendingPathComponent(name).path
        let settings = ExportSettings(dimensions: Self.canvas, frameRate: Self.frameRate, target: .quality(0.5))
        let session = ExportSession(source: try film(), settings: settings, path: path)
        let error = #expect(throws: MediaFileError.self) { try session.run() }
        #expect(error == .cannotCreate(path: ExportSession.workFolder(of: path), reason: "Not a directory"))
    }

    @Test("a recording of the room's picture makes no film: it is one")
    func composite() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RecordedCall(in: folder).record(seconds: 1)
        let file = folder.appendingPathComponent("r1/recording.json")
        var manifest = try JSONDecoder().decode(RecordingManifest.self, from: Data(contentsOf: file))
        manifest.mode = .composite
        try JSONEncoder().encode(manifest).write(to: file)
        #expect(throws: RecordingReadError.composite(path: folder.appendingPathComponent("r1").path)) { try film() }
    }

    @Test(
        "a timeline with times that no recording has is damaged",
        arguments: [
            #"{"at":1e300,"type":"left","participant":"ada"}"#, #"{"at":-1e300,"type":"left","participant":"ada"}"#,
            #"{"at":0,"type":"file","file":{"path":"a","track":{"content":"mix"},"start":1e300}}"#,
            #"{"at":0,"type":"fileEnded","file":{"path":"a","track":{"content":"mix"},"start":0,"duration":1e300}}"#,
            #"{"at":0,"type":"file","file":{"path":"a","track":{"content":"mix"},"start":1e8}}"#,
            #"{"at":0,"type":"file","file":{"path":"a","track":{"content":"mix"},"start":-1e8}}"#,
            #"{"at":9,"type":"fileEnded","file":{"path":"a","track":{"content":"mix"},"start":0,"duration":1e8}}"#,
        ])
    func impossibleTimes(line: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let recording = folder.appendingPathComponent("r1")
        try FileManager.default.createDirectory(at: recording, withIntermediateDirectories: true)
        let timeline = recording.appendingPathComponent(RecordingManifest.timelineName)
        try Data((line + "\n").utf8).write(to: timeline)
        try JSONEncoder().encode(RecordingManifest(id: "r1", room: "demo", began: "2026-01-01T00:00:00Z"))
            .write(to: recording.appendingPathComponent(RecordingManifest.fileName))
        #expect(throws: RecordingReadError.damaged(path: timeline.path, line: 1)) { try film() }
    }

    @Test("a duration that no recording has is told as the manifest's, not the timeline's", arguments: [-60, 1e300])
    func impossibleDuration(duration: Double) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try URL(fileURLWithPath: RecordedCall(in: folder).record(seconds: 1))
            .appendingPathComponent(RecordingManifest.fileName)
        var manifest = try JSONDecoder().decode(RecordingManifest.self, from: Data(contentsOf: file))
        manifest.duration = duration
        try JSONEncoder().encode(manifest).write(to: file)
        #expect(throws: RecordingReadError.impossibleDuration(path: file.path)) { try film() }
    }

    @Test("a damaged event makes no film longer than its recording")
    func lateEvent() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let line = Data("{\"at\":1e8,\"type\":\"left\",\"participant\":\"ada\"}\n".utf8)
        func damage(isKilled: Bool) throws -> (path: String, line: Int) {
            let path = try RecordedCall(in: folder).record(seconds: 3, isKilled: isKilled)
            let timeline = URL(fileURLWithPath: "\(path)/\(RecordingManifest.timelineName)")
            let lines = try Data(contentsOf: timeline)
            try (lines + line).write(to: timeline)
            return (timeline.path, lines.count { $0 == UInt8(ascii: "\n") } + 1)
        }
        let (path, number) = try damage(isKilled: false)
        #expect(throws: RecordingReadError.damaged(path: path, line: number)) { try film() }
        try FileManager.default.removeItem(at: folder)
        _ = try damage(isKilled: true)
        let duration = try film().duration.seconds
        #expect(abs(duration - 3) < 0.1)
    }

    @Test("a file in which there is nothing yet, or half a fragment, is no reason to make no film")
    func interrupted() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try RecordedCall(in: folder).record(seconds: 4)
        let track = RecordingTrack(participant: "ada", content: .camera)
        let begun = RecordedFile(path: "tracks/ada-camera-002.mp4", track: track, start: 3)
        try Data().write(to: URL(fileURLWithPath: "\(path)/\(begun.path)"))
        let timeline = URL(fileURLWithPath: "\(path)/\(RecordingManifest.timelineName)")
        let line = try JSONEncoder().encode(RecordingTimelineEntry(at: 3, .file(begun)))
        try (Data(contentsOf: timeline) + line + Data("\n".utf8)).write(to: timeline)
        let first = "\(path)/tracks/ada-camera-001.mp4"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: first))
        try bytes.prefix(bytes.count * 2 / 3).write(to: URL(fileURLWithPath: first))
        let film = try film()
        for frame in stride(from: 0, to: 4 * Self.frameRate, by: 5) {
            let picture = try film.picture(at: MediaTime(value: Int64(frame), timescale: Int32(Self.frameRate)))
            #expect(picture.dimensions == Self.canvas)
        }
    }

    @Test("a film of a recording whose relay was killed goes on as long as there is something to see or hear")
    func killed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try RecordedCall(in: folder).record(seconds: 3, isKilled: true)
        let duration = try film().duration.seconds
        #expect(abs(duration - 3) < 0.1)
    }

    // MARK: Looking at the film

    /// When the picture becomes bright.
    private func flashes(in path: String) throws -> [Double] {
        let reader = try MovieReader(path: path)
        let decoder = DecodingPipeline()
        var pictures: [(time: Double, isBright: Bool)] = []
        func take(_ event: DecodingEvent) {
            guard case .output(let output) = event, case .picture(let picture) = output.result else { return }
            let luma = picture.pixelBuffer.withPlane(0) { bytes, stride in Int(bytes[20 * stride + 80]) }
            pictures.append((picture.presentationTime.seconds, luma > 128))
        }
        while let sample = try reader.nextSample() { decoder.decode(sample) { take($0) } }
        decoder.finishDelayedFrames { take($0) }
        return zip(pictures, pictures.dropFirst()).filter { !$0.isBright && $1.isBright }.map(\.1.time)
    }

    /// When the sound begins, after the first second.
    private func beeps(in path: String) throws -> [Double] {
        let reader = try OpusReader(path: path)
        let decoder = try OpusDecoder()
        var samples: [Float] = []
        while let packet = try reader.nextPacket() { samples += try decoder.decode(packet.payload) }
        // The decoder leaves the encoder's look-ahead to the player.
        samples.removeFirst(312)
        var begins: [Double] = []
        var quiet = 0
        for (index, sample) in samples.enumerated() {
            if abs(sample) < 0.1 {
                quiet += 1
            } else {
                if quiet > 24_000 { begins.append(Double(index) / 48_000) }
                quiet = 0
            }
        }
        return begins
    }
}

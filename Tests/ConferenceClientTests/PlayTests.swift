import Foundation
import MediaCore
import Testing
import VideoCoding

@testable import ConferenceClient
@testable import MediaFiles

@Suite("Playing files")
struct PlayTests {
    /// Twenty frames of 40 ms, with a keyframe every fifth.
    private func movie() throws -> TemporaryFile {
        let file = TemporaryFile(".mp4")
        let count = try VideoSourceTests.write(20, to: file.path).count
        try #require(count == 20)
        return file
    }

    private func options(_ file: TemporaryFile, _ change: (inout PlayOptions) -> Void = { _ in }) -> PlayOptions {
        var options = PlayOptions(path: file.path)
        options.isAsFastAsPossible = true
        change(&options)
        return options
    }

    /// The pictures of a Y4M file, and its header.
    private func frames(_ path: String) throws -> (header: Y4MHeader, frames: [Data]) {
        let data = try #require(FileManager.default.contents(atPath: path))
        let lineEnd = try #require(data.firstIndex(of: UInt8(ascii: "\n")))
        let header = try Y4MHeader(parsing: String(decoding: data[..<lineEnd], as: UTF8.self))
        var frames: [Data] = []
        var rest = data[(lineEnd + 1)...]
        while rest.count >= header.frameSize + 6 {
            try #require(rest.prefix(6) == Data("FRAME\n".utf8))
            frames.append(Data(rest.dropFirst(6).prefix(header.frameSize)))
            rest = rest.dropFirst(6 + header.frameSize)
        }
        #expect(rest.isEmpty)
        return (header, frames)
    }

    @Test("a file is played completely, each picture written once")
    func whole() async throws {
        let (file, output) = (try movie(), TemporaryFile(".y4m"))
        let run = try PlayRun(options(file) { $0.output = .y4m(path: output.path) })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.end == .endOfFile)
        #expect(report.frames.shown == 20 && report.frames.written == 20 && report.frames.late == 0)
        #expect(abs(report.durationSeconds - 0.8) < 0.001)
        #expect(report.fileSeconds.map { abs($0 - 0.8) < 0.05 } == true)
        let written = try frames(output.path)
        #expect(written.frames.count == 20)
        #expect(Set(written.frames).count == 20)
        #expect(written.header == Y4MHeader(dimensions: VideoDimensions(width: 160, height: 96), frameRate: 25))
    }

    /// Makes a file that of a phone which was held upright: the header of the track says to turn pictures clockwise.
    static func laySideways(_ file: TemporaryFile) throws {
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: file.path)))
        let header = try #require(bytes.indices.dropLast(80).first { bytes[$0..<$0 + 4].elementsEqual("tkhd".utf8) })
        // The matrix (ISO/IEC 14496-12, 8.3.2): 0, 1, 0, -1, 0, 0 in 16.16 fixed point.
        bytes.replaceSubrange(
            header + 44..<header + 68,
            with: [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        try Data(bytes).write(to: URL(fileURLWithPath: file.path))
    }

    @Test("the film of a phone that was held upright is shown and sent upright")
    func upright() async throws {
        let (file, plain, turned) = (try movie(), TemporaryFile(".y4m"), TemporaryFile(".y4m"))
        _ = try await PlayRun(options(file) { $0.output = .y4m(path: plain.path) }).play()
        try Self.laySideways(file)
        let (report, _) = try await PlayRun(options(file) { $0.output = .y4m(path: turned.path) }).play()
        #expect(report.width == 96 && report.height == 160)
        let (lying, upright) = (try frames(plain.path).frames, try frames(turned.path))
        #expect(upright.header.dimensions == VideoDimensions(width: 96, height: 160))
        try #require(upright.frames.count == 20)
        for (lying, upright) in zip(lying, upright.frames) {
            let (lying, upright) = ([UInt8](lying), [UInt8](upright))
            // The lowest row becomes the first column.
            #expect((0..<160).allSatisfy { upright[$0 * 96] == lying[95 * 160 + $0] })
            #expect((0..<160).allSatisfy { upright[$0 * 96 + 95] == lying[$0] })
        }
        let source = try DecodedFileSource(path: file.path, fixedFrameRate: nil)
        #expect(source.dimensions == VideoDimensions(width: 96, height: 160))
    }

    @Test("a written file can be read as a source, picture by picture")
    func readBack() async throws {
        let (file, output) = (try movie(), TemporaryFile(".y4m"))
        _ = try await PlayRun(options(file) { $0.output = .y4m(path: output.path) }).play()
        let (written, source) = (try frames(output.path).frames, try Y4MVideoSource(path: output.path))
        for expected in written {
            guard case .picture(let picture) = try source.nextFrame(wallClockMilliseconds: 0).content else {
                Issue.record("no picture")
                return
            }
            picture.withPlane(0) { bytes, stride in
                #expect(Data(bytes[..<160]) == expected.prefix(160))
                #expect(Data(bytes[(95 * stride)..<(95 * stride + 160)]) == expected[(95 * 160)..<(96 * 160)])
            }
        }
    }

    /// Nine pictures of 32x32, each lighter than the one before, as I, P and seven B-frames. The SPS denies that any is
    /// reordered, as some encoders do.
    ///
    /// Made by ffmpeg: `-f lavfi -i "color=black:size=32x32:rate=30:duration=0.3,geq=lum='20+20*N'" -c:v libx264 -qp 10
    /// -bf 7 -refs 1 -profile:v main`. Then `max_num_reorder_frames` was made 0.
    static let deniedReordering = [
        "AAAAAWdNQArtktAPFi5YAAAAAWjuAQyyAAAAAWWIhADr/veBvzLLYDpqyWn2EN8AAAABQZooDX/KaY+ZZQBqhfm0xp+AAAAAAQGe",
        "QUSL1S/wPWDr/+IP1/zvpzV3l/EAAAABAZ5CRIvVL/A9YOv/4g3D/O+nNXeX8AAAAAEBnkNEi9Uv8D1g6//iC6/zvpzV3l/BAAAA",
        "AQGeRESLVcEAAAABAZ5FRIvSIacyt5Y7ztcJH4EAAAABAZ5GRIvSIacywIB7ztcJH4EAAAABAZ5HRIvVL/A9YOv/4gTNs76c1d5f",
        "wA==",
    ].joined()

    @Test("a raw stream with B-frames is shown completely and in order, though it states that it has none")
    func reordered() async throws {
        let (file, output) = (TemporaryFile(".264"), TemporaryFile(".y4m"))
        let stream = try #require(Data(base64Encoded: Self.deniedReordering))
        try stream.write(to: URL(fileURLWithPath: file.path))
        let run = try PlayRun(options(file) { $0.output = .y4m(path: output.path) })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.frames.shown == 9 && report.frames.dropped == 0 && report.frames.late == 0)
        let lumas = try frames(output.path).frames.map { Int($0[500]) }
        #expect(lumas.count == 9)
        for (number, luma) in lumas.enumerated() { #expect(abs(luma - 20 * (number + 1)) <= 4, "\(lumas)") }
    }

    @Test("playing starts at the picture that is seen at the start, and lasts as long as asked for")
    func part() async throws {
        let file = try movie()
        let (all, some) = (TemporaryFile(".y4m"), TemporaryFile(".y4m"))
        _ = try await PlayRun(options(file) { $0.output = .y4m(path: all.path) }).play()
        let run = try PlayRun(
            options(file) {
                $0.output = .y4m(path: some.path)
                // Picture 7 is seen from 280 to 320 ms; 400 ms later comes the end, before picture 17.
                $0.start = .milliseconds(290)
                $0.duration = .milliseconds(390)
            })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.end == .duration)
        #expect(abs(report.durationSeconds - 0.39) < 0.001)
        #expect(try frames(some.path).frames == Array(try frames(all.path).frames[7..<17]))
    }

    /// Replaces an edit of a file's edit list (ISO/IEC 14496-12, 8.6.6): its length in milliseconds, and its beginning
    /// in the media in 90,000ths of a second.
    ///
    /// - Parameter index: The place of the edit in the list.
    static func trim(_ file: TemporaryFile, to duration: UInt32, from start: UInt32, edit index: Int = 0) throws {
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: file.path)))
        let list = try #require(bytes.indices.dropLast(24).first { bytes[$0..<$0 + 4].elementsEqual("elst".utf8) })
        let edit = [duration, start].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        let place = list + 12 + 12 * index
        bytes.replaceSubrange(place..<place + 8, with: edit)
        try Data(bytes).write(to: URL(fileURLWithPath: file.path))
    }

    @Test("of a trimmed film only what its edit list has kept is shown")
    func trimmed() async throws {
        let file = try movie()
        let (all, some) = (TemporaryFile(".y4m"), TemporaryFile(".y4m"))
        _ = try await PlayRun(options(file) { $0.output = .y4m(path: all.path) }).play()
        // From picture 7 on, behind keyframe 5.
        try Self.trim(file, to: 400, from: 7 * 3600)
        let run = try PlayRun(options(file) { $0.output = .y4m(path: some.path) })
        let (report, problem) = await run.play()
        #expect(problem == nil && report.end == .endOfFile)
        #expect(abs(report.durationSeconds - 0.4) < 0.001)
        #expect(try frames(some.path).frames == Array(try frames(all.path).frames[7..<17]))
    }

    @Test("a trimmed film that begins with an empty edit is repeated without a gap")
    func trimmedBehindEmptyEdit() async throws {
        let (file, output) = (TemporaryFile(".mp4"), TemporaryFile(".y4m"))
        _ = try VideoSourceTests.write(20, to: file.path, start: 10)
        // Ten pictures from picture 7 on, behind keyframe 5.
        try Self.trim(file, to: 400, from: 7 * 3600, edit: 1)
        let run = try PlayRun(
            options(file) {
                $0.output = .y4m(path: output.path)
                $0.loops = true
                $0.duration = .milliseconds(1200)
            })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.frames.shown == 30)
        let shown = try frames(output.path).frames
        #expect(shown.count == 30 && Set(shown).count == 10)
    }

    @Test("a film of which its edit list has kept nothing is an error, also where it is to be repeated")
    func allTrimmed() async throws {
        let file = try movie()
        // Between pictures 7 and 8.
        try Self.trim(file, to: 10, from: 7 * 3600 + 900)
        for loops in [false, true] {
            let run = try PlayRun(options(file) { $0.loops = loops })
            let (report, problem) = await run.play()
            #expect(report.end == .failed && problem?.description.contains("edit list") == true)
        }
        let source = try DecodedFileSource(path: file.path, fixedFrameRate: nil)
        #expect(throws: ClientError.self) { try source.nextFrame(wallClockMilliseconds: 0) }
    }

    @Test("a repeated file continues without a gap")
    func loop() async throws {
        let (file, output) = (try movie(), TemporaryFile(".y4m"))
        let run = try PlayRun(
            options(file) {
                $0.output = .y4m(path: output.path)
                $0.loops = true
                $0.duration = .milliseconds(2000)
            })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.frames.shown == 50)
        let written = try frames(output.path).frames
        #expect(written.count == 50)
        #expect(Array(written[20..<40]) == Array(written[..<20]))
    }

    @Test("at twice the rate all is shown in half the time", arguments: [1.0, 2.0])
    func rate(rate: Double) async throws {
        let (file, output) = (try movie(), TemporaryFile(".y4m"))
        let run = try PlayRun(
            options(file) {
                $0.rate = rate
                $0.output = .y4m(path: output.path)
            })
        let (report, _) = await run.play()
        #expect(report.frames.shown == 20)
        #expect(try frames(output.path).header.frameRate == 25 * rate)
    }

    @Test("on the machine's clock a file is played to its end")
    func realTime() async throws {
        let file = try movie()
        let run = try PlayRun(
            options(file) {
                $0.isAsFastAsPossible = false
                $0.rate = 10
            })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.end == .endOfFile)
        #expect(report.frames.shown + report.frames.late + report.frames.skipped == 20)
        #expect(run.status.line.contains("160x96"))
    }

    @Test("a run that is stopped ends, and says so")
    func stop() async throws {
        let file = try movie()
        let run = try PlayRun(
            options(file) {
                $0.isAsFastAsPossible = false
                $0.loops = true
            })
        let end = Task { await run.play() }
        run.stop()
        #expect(await end.value.report.end == .interrupted)
    }

    @Test("pictures are written as numbered PNG files")
    func png() async throws {
        let (file, folder) = (try movie(), TemporaryFile(""))
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        let run = try PlayRun(
            options(file) {
                $0.output = .png(pattern: folder.path + "/frame-%03d.png")
                $0.duration = .milliseconds(120)
            })
        let (report, problem) = await run.play()
        #expect(problem == nil)
        #expect(report.frames.written == 3)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["frame-001.png", "frame-002.png", "frame-003.png"])
        for name in names {
            let contents = FileManager.default.contents(atPath: folder.path + "/" + name)
            #expect(contents?.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
        }
    }

    @Test("impossible inputs and outputs are refused with the right kind of error")
    func refusals() async throws {
        let file = try movie()
        #expect(throws: ClientError.unreadableInput(path: "/none.mp4", reason: "No such file or directory")) {
            try PlayRun(PlayOptions(path: "/none.mp4"))
        }
        #expect {
            try PlayRun(options(file) { $0.start = .seconds(5) })
        } throws: { ($0 as? ClientError)?.exitCode == 64 }
        #expect {
            try PlayRun(options(file) { $0.output = .png(pattern: "/nonexistent/%d.png") })
        } throws: { ($0 as? ClientError)?.exitCode == 74 }
        #expect {
            try PlayRun(options(file) { $0.output = .y4m(path: "/nonexistent/a.y4m") })
        } throws: { ($0 as? ClientError)?.exitCode == 74 }
    }

    @Test("outputs are distinguished by their names")
    func outputs() throws {
        #expect(try PlayOutput(argument: "none") == PlayOutput.none)
        #expect(try PlayOutput(argument: "a.Y4M") == .y4m(path: "a.Y4M"))
        #expect(try PlayOutput(argument: "f/%05d.png") == .png(pattern: "f/%05d.png"))
        for wrong in ["a.png", "a.mp4", "%d-%d.png", "%s.png", "%5d.png", "%099d.png", ""] {
            #expect { try PlayOutput(argument: wrong) } throws: { ($0 as? ClientError)?.exitCode == 64 }
        }
    }

    @Test("a number takes its place in a path")
    func numberedPaths() {
        #expect(NumberedPath("a/%05d.png")?.path(42) == "a/00042.png")
        #expect(NumberedPath("%d.png")?.path(7) == "7.png")
        #expect(NumberedPath("%02d.png")?.path(123) == "123.png")
    }
}

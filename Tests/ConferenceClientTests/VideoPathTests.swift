import Compositing
import Foundation
import H264
import MediaCore
import MediaFiles
import NIOCore
import RTP
import Testing
import VideoCoding

@testable import ConferenceClient

@Suite("Frame counter over the whole path")
struct CounterSurvivalTests {
    @Test(
        "counters are read after composing, encoding at a low rate and decoding",
        arguments: [(4, 300.0), (9, 500.0)])
    func lowRate(count: Int, kilobits: Double) throws {
        let canvas = VideoDimensions(width: 1280, height: 720)
        let names = (1...count).map { "Participant \($0)" }
        let cameras = names.map {
            SyntheticVideoSource(name: $0, dimensions: VideoDimensions(width: 640, height: 360), frameRate: 10)
        }
        let ids = (1...count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        let renderer = CompositionRenderer()
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: canvas,
            properties: CompressionProperties(averageBitRate: .kilobits(kilobits), expectedFrameRate: 10),
            outputHandler: outputs.append)
        let decoder = DecodingPipeline()
        var reader = FrameCounterReader()
        var read = 0
        let frameCount = 12
        for frame in 0..<frameCount {
            let time = 1_763_684_465_000 + Int64(frame) * 100
            var sources: [SourceID: CompositionSource] = [:]
            for (index, id) in ids.enumerated() {
                sources[id] = CompositionSource(
                    id: id, name: names[index],
                    content: .picture(cameras[index].makePicture(wallClockMilliseconds: time), isStale: false))
            }
            let composed = try #require(
                renderer.render(
                    [CompositionRequest(grid: ids, canvas: canvas)], inputs: CompositionInputs(sources: sources),
                    at: .zero
                ).first?.picture)
            try encoder.encode(composed, presentationTime: MediaTime(value: time, timescale: 1000))
            guard let encoded = outputs.next()?.frame else { continue }
            decoder.decode(encoded.sample) { event in
                guard case .output(let output) = event, let picture = output.picture else { return }
                let readings = reader.readings(in: picture.pixelBuffer)
                for reading in readings {
                    #expect(reading.counter.age(atWallClockMilliseconds: time) <= .milliseconds(100))
                    #expect(names.contains { FrameCounter.tag(for: $0) == reading.counter.tag })
                }
                read += readings.count
            }
        }
        // A frame now and then may be too coarse.
        #expect(read >= frameCount * count * 3 / 4)
    }
}

@Suite("Video sources")
struct VideoSourceTests {
    /// Encodes a few frames of the test camera and writes them to a file.
    static func write(
        _ count: Int, to path: String, width: Int = 160, height: Int = 96, keyframeInterval: Int = 5
    ) throws -> [SampleBuffer] {
        let camera = SyntheticVideoSource(
            name: "File", dimensions: VideoDimensions(width: width, height: height), frameRate: 30)
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: camera.dimensions, properties: CompressionProperties(averageBitRate: .megabits(3)),
            outputHandler: outputs.append)
        var samples: [SampleBuffer] = []
        for index in 0..<count {
            try encoder.encode(
                camera.makePicture(wallClockMilliseconds: Int64(index)),
                presentationTime: MediaTime(value: Int64(index) * 40, timescale: 1000),
                options: EncodeOptions(forceKeyframe: index % keyframeInterval == 0))
            if let frame = outputs.next()?.frame { samples.append(frame.sample) }
        }
        let writer = try MovieWriter(path: path, video: samples[0].format, layout: .indexAtEnd)
        for sample in samples { try writer.append(sample) }
        try writer.finish()
        return samples
    }

    private func sample(_ frame: SourceFrame) -> SampleBuffer? {
        guard case .encoded(let sample) = frame.content else { return nil }
        return sample
    }

    private func picture(_ frame: SourceFrame) -> PixelBuffer? {
        guard case .picture(let picture) = frame.content else { return nil }
        return picture
    }

    @Test("a file that is sent as it is keeps its frames and times, and starts over")
    func forwarding() throws {
        let file = TemporaryFile(".mp4")
        let samples = try Self.write(7, to: file.path)
        let source = try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        #expect(source.dimensions == VideoDimensions(width: 160, height: 96))
        for index in 0..<15 {
            let frame = try source.nextFrame(wallClockMilliseconds: 0)
            #expect(sample(frame)?.data == samples[index % 7].data)
            if index % 7 < 6 { #expect(frame.duration == .milliseconds(40)) }
        }
    }

    @Test("a keyframe that is asked for is the next one in the file")
    func skipsToKeyframe() throws {
        let file = TemporaryFile(".mp4")
        let samples = try Self.write(12, to: file.path)
        let source = try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        _ = try source.nextFrame(wallClockMilliseconds: 0)
        source.skipToSyncFrame()
        #expect(sample(try source.nextFrame(wallClockMilliseconds: 0))?.data == samples[5].data)
        for _ in 0..<5 { _ = try source.nextFrame(wallClockMilliseconds: 0) }
        source.skipToSyncFrame()
        #expect(sample(try source.nextFrame(wallClockMilliseconds: 0))?.data == samples[0].data)
    }

    @Test("a file that is decoded gives every picture, and starts over")
    func decodes() throws {
        let file = TemporaryFile(".mp4")
        let count = try Self.write(7, to: file.path).count
        let source = try DecodedFileSource(path: file.path, fixedFrameRate: nil)
        var pictures: [PixelBuffer] = []
        for _ in 0..<(2 * count) {
            let frame = try source.nextFrame(wallClockMilliseconds: 0)
            pictures.append(try #require(picture(frame)))
            #expect(frame.duration > .milliseconds(20) && frame.duration <= .milliseconds(80))
        }
        #expect(pictures.allSatisfy { $0.dimensions == VideoDimensions(width: 160, height: 96) })
        // Frame n of both rounds is the same picture.
        for index in 0..<count {
            let same = pictures[index].withPlane(0) { first, _ in
                pictures[index + count].withPlane(0) { second, _ in first.elementsEqual(second) }
            }
            #expect(same)
        }
    }

    @Test("a source is scaled to the size that is asked for, letterboxed")
    func scales() throws {
        let file = TemporaryFile(".mp4")
        _ = try Self.write(3, to: file.path, width: 96, height: 160)
        var settings = VideoInputSettings()
        settings.dimensions = VideoDimensions(width: 320, height: 180)
        let source = try #require(try VideoInput.file(path: file.path).open(name: "Ada", settings: settings))
        let shown = try #require(picture(try source.nextFrame(wallClockMilliseconds: 0)))
        #expect(shown.dimensions == VideoDimensions(width: 320, height: 180))
        shown.withPlane(0) { bytes, stride in
            #expect(bytes[90 * stride + 10] < 40)
            #expect(bytes[90 * stride + 309] < 40)
        }
        let colour = SyntheticVideoSource.colour(of: "File")
        shown.withPlane(1) { bytes, stride in
            #expect(abs(Int(bytes[60 * stride + 80]) - Int(colour.blueDifference)) < 12)
        }
    }

    @Test("the kind of a file decides how it is opened")
    func kinds() throws {
        let file = TemporaryFile(".mp4")
        _ = try Self.write(3, to: file.path)
        let input = VideoInput(argument: file.path)
        #expect(try input.open(name: "", settings: .init()) is DecodedFileSource)
        #expect(try input.open(name: "", settings: .init(reencodes: false)) is EncodedFileSource)
        #expect(try VideoInput(argument: "none").open(name: "", settings: .init()) == nil)
        #expect(try VideoInput(argument: "synthetic").open(name: "", settings: .init()) is SyntheticVideoSource)
        #expect(throws: ClientError.unreadableInput(path: "/none.mp4", reason: "No such file or directory")) {
            try VideoInput(argument: "/none.mp4").open(name: "", settings: .init())
        }
    }

    @Test("a raw stream with B-frames is encoded again, even if it claims to have none")
    func deniedReordering() throws {
        let file = TemporaryFile(".264")
        let stream = try #require(Data(base64Encoded: PlayTests.deniedReordering))
        try stream.write(to: URL(fileURLWithPath: file.path))
        let input = VideoInput(argument: file.path)
        let source = try #require(try input.open(name: "", settings: .init()))
        #expect(source is DecodedFileSource)
        var lumas: [Int] = []
        for _ in 0..<9 {
            let shown = try #require(picture(try source.nextFrame(wallClockMilliseconds: 0)))
            lumas.append(shown.withPlane(0) { bytes, _ in Int(bytes[8]) })
        }
        for (number, luma) in lumas.enumerated() { #expect(abs(luma - 20 * (number + 1)) <= 4, "\(lumas)") }
        #expect(throws: ClientError.self) { try input.open(name: "", settings: .init(reencodes: false)) }
    }
}

@Suite("Video pipelines")
struct VideoPipelineTests {
    private func request(_ time: Int, isKeyframeWanted: Bool = false, hasRoom: Bool = true) -> VideoSendPipeline.Request
    {
        .init(
            wallClockMilliseconds: Int64(time), bitRate: .kilobits(300), isKeyframeWanted: isKeyframeWanted,
            hasRoom: hasRoom)
    }

    private static let settings = VideoSendPipeline.EncoderSettings(
        backEnd: .openH264, profile: .constrainedBaseline, levelIDC: 31)

    @Test("pictures are encoded, and keyframes come on request")
    func encodes() throws {
        let camera = SyntheticVideoSource(
            name: "Ada", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 25)
        let pipeline = VideoSendPipeline(source: camera, settings: Self.settings)
        var keyframes: [Int] = []
        for index in 0..<10 {
            let output = try pipeline.produce(request(index * 40, isKeyframeWanted: index == 6))
            #expect(output.duration == .milliseconds(40))
            if output.frame?.isKeyframe == true { keyframes.append(index) }
        }
        #expect(keyframes == [0, 6])
    }

    @Test("without room nothing is encoded, and a stream encoded before resumes at a keyframe")
    func withoutRoom() throws {
        let camera = SyntheticVideoSource(
            name: "Ada", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 25)
        let live = VideoSendPipeline(source: camera, settings: Self.settings)
        #expect(try live.produce(request(0, hasRoom: false)).frame == nil)
        #expect(try live.produce(request(40)).frame?.isKeyframe == true)

        let file = TemporaryFile(".mp4")
        _ = try VideoSourceTests.write(12, to: file.path)
        let source = try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        let stored = VideoSendPipeline(source: source, settings: Self.settings)
        let sent = try (0..<12).map { index in try stored.produce(request(index, hasRoom: index != 2)).frame }
        // Frames 2, 3 and 4 are left out: 5 is the next that needs no other.
        #expect(sent.map { $0 != nil } == (0..<12).map { !(2...4).contains($0) })
        #expect(sent[5]?.isKeyframe == true)
    }

    @Test("a receiver begins with a keyframe, reads counters and keeps the newest picture")
    func receives() throws {
        let camera = SyntheticVideoSource(
            name: "Ada", dimensions: VideoDimensions(width: 320, height: 180), frameRate: 25)
        let sender = VideoSendPipeline(source: camera, settings: Self.settings)
        let receiver = VideoReceivePipeline()
        let time = Int(ClientClock.wallClockMilliseconds())
        let frames = try (0..<3).compactMap { try sender.produce(request(time + $0)).frame }
        #expect(receiver.decode(frames[1].sample).needsKeyframe)
        let output = receiver.decode(frames[0].sample)
        #expect(output.pictureCount == 1)
        #expect(output.dimensions == VideoDimensions(width: 320, height: 180))
        #expect(output.delays?.map(\.tag) == [FrameCounter.tag(for: "Ada")])
        let file = TemporaryFile(".png")
        try receiver.writeSnapshot(to: file.path)
        #expect(FileManager.default.contents(atPath: file.path)?.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
    }

    @Test("a snapshot without a picture is no media, and an unusable path is an output error")
    func snapshots() throws {
        let receiver = VideoReceivePipeline()
        #expect(throws: ClientError.noMedia(reason: "no picture arrived, so there is nothing to write to a.png")) {
            try receiver.writeSnapshot(to: "a.png")
        }
        #expect(throws: ClientError.outputNotWritable(path: "/nonexistent/a", reason: "its folder does not exist")) {
            try JSONFile.check("/nonexistent/a")
        }
    }
}

@Suite("Clips of load clients")
struct ClipTests {
    @Test("a clip begins with a keyframe wherever it is entered, and repeats")
    func clip() throws {
        let clip = try PreEncodedClip.make(
            name: "Load", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 5, bitRate: .kilobits(100),
            backEnd: .openH264, seconds: 2)
        #expect(clip.samples.count(where: \.isSync) == 2)
        for offset in 0..<3 {
            let source = ClipSource(clips: [clip], offset: offset)
            let first = try source.nextFrame(wallClockMilliseconds: 0)
            guard case .encoded(let sample) = first.content else {
                Issue.record("not encoded")
                return
            }
            #expect(sample.isSync)
            #expect(first.duration == .milliseconds(200))
            for _ in 0..<20 { _ = try source.nextFrame(wallClockMilliseconds: 0) }
        }
    }

    @Test("a clip in several sizes changes to the one that its tile needs, with a keyframe")
    func clipSizes() throws {
        let sizes = [VideoDimensions(width: 320, height: 192), VideoDimensions(width: 160, height: 96)]
        let clips = try sizes.map { size in
            try PreEncodedClip.make(
                name: "Load", dimensions: size, frameRate: 5, bitRate: .kilobits(100), backEnd: .openH264, seconds: 2)
        }
        let source = ClipSource(clips: clips)
        _ = try source.nextFrame(wallClockMilliseconds: 0)
        source.fit(VideoDimensions(width: 150, height: 90))
        var seen: [(VideoDimensions, isSync: Bool)] = []
        for _ in 0..<10 {
            guard case .encoded(let sample) = try source.nextFrame(wallClockMilliseconds: 0).content else { continue }
            seen.append((sample.format.dimensions, sample.isSync))
        }
        let change = try #require(seen.firstIndex { $0.0 == sizes[1] })
        #expect(seen[change].isSync)
        #expect(seen[change...].allSatisfy { $0.0 == sizes[1] })
    }

    @Test("a second of audio is fifty packets, over and over")
    func audio() throws {
        let clip = try OpusClipSource.makeClip(name: "Load")
        #expect(clip.count == 50)
        let source = OpusClipSource(clip: clip)
        let packets = try (0..<100).map { _ in try source.nextPacket().payload }
        #expect(Array(packets.prefix(50)) == Array(packets.suffix(50)))
        #expect(
            clip.allSatisfy {
                $0.level.decibelsBelowOverload > 10 && $0.level.decibelsBelowOverload < 40 && $0.level.isVoice
            })
    }
}

@Suite("Sizes by the tile")
struct SendSizeTests {
    private let source = VideoDimensions(width: 1280, height: 720)

    @Test(
        "the smallest of few sizes that covers the tile is sent",
        arguments: [
            (1280, 720, 1280), (1000, 700, 1280), (960, 540, 960), (640, 360, 640), (426, 240, 640), (320, 180, 320),
            (100, 56, 320), (0, 0, 320), (4000, 3000, 1280),
        ])
    func sizes(width: Int, height: Int, expected: Int) {
        let size = SendSize.dimensions(of: source, in: VideoDimensions(width: width, height: height))
        #expect(size == VideoDimensions(width: expected, height: expected * 9 / 16))
    }

    @Test("a picture that stands upright in a wide tile is sent as high as the tile")
    func avatar() {
        let size = SendSize.dimensions(
            of: VideoDimensions(width: 720, height: 1280), in: VideoDimensions(width: 1280, height: 640))
        #expect(size == VideoDimensions(width: 360, height: 640))
    }
}

@Suite("Events of a room")
struct EventStreamTests {
    private func events(_ text: String, cutEvery size: Int) -> [EventStreamParser.Event] {
        var parser = EventStreamParser()
        var bytes = ByteBuffer(string: text)
        var events: [EventStreamParser.Event] = []
        while let part = bytes.readSlice(length: min(size, bytes.readableBytes)), part.readableBytes > 0 {
            events += parser.append(part)
        }
        return events
    }

    @Test("events are the same however the stream is cut, and whichever way its lines end", arguments: [1, 2, 7, 1000])
    func cuts(size: Int) {
        let text = "retry: 2000\nid: 1\nevent: room\ndata: {\"a\":1}\n\n:\n\ndata:x\ndata: y\n\nevent: lost"
        let expected = [
            EventStreamParser.Event(name: "room", data: "{\"a\":1}"), .init(name: "message", data: "x\ny"),
        ]
        #expect(events(text, cutEvery: size) == expected)
        #expect(events(text.replacing("\n", with: "\r\n"), cutEvery: size) == expected)
        #expect(events(text.replacing("\n", with: "\r"), cutEvery: size) == expected)
    }

    @Test("an event that does not end is not collected without end")
    func endless() {
        var parser = EventStreamParser()
        let chunk = ByteBuffer(repeating: 0x61, count: 1 << 18)
        var events: [EventStreamParser.Event] = []
        for _ in 0..<8 { events += parser.append(chunk) }
        #expect(events.isEmpty)
        events = parser.append(ByteBuffer(string: "\n\ndata: 1\n\n"))
        #expect(events == [.init(data: "1")])
    }

    @Test("a call is over for the client when a moderator ends it, or removes the client")
    func dismissals() {
        func reason(_ name: String, _ data: String) -> String? {
            DismissalEvent.reason(EventStreamParser.Event(name: name, data: data), of: "me")
        }
        let removed = #"{"action":"removed","participant":"me","by":{"participant":"ada","name":"Ada"}}"#
        #expect(reason("moderated", removed) == "Ada removed us from the call")
        let ended = #"{"action":"ended","by":{"name":"Ada"}}"#
        #expect(reason("moderated", ended) == "Ada ended the call for everyone")
        for event in [
            removed.replacing(#""me""#, with: #""you""#), removed.replacing("removed", with: "muted"),
            removed.replacing("removed", with: "unknown"), "{}", "",
        ] { #expect(reason("moderated", event) == nil) }
        #expect(reason("participantLeft", removed) == nil)
    }

    @Test("only the client's own camera tile is read from the room's events")
    func tiles() {
        func size(_ name: String, _ data: String) -> VideoDimensions? {
            TileEvent.size(EventStreamParser.Event(name: name, data: data), of: "me")
        }
        let mine = #"{"participant":"me","content":"camera","width":320,"height":180,"bitRate":1}"#
        let screen = #"{"participant":"me","content":"screenShare","width":640,"height":360,"bitRate":0}"#
        let other = #"{"participant":"you","content":"camera","width":640,"height":360,"bitRate":5}"#
        let expected = VideoDimensions(width: 320, height: 180)
        #expect(size("tileChanged", mine) == expected)
        #expect(size("room", #"{"id":"demo","tiles":[\#(mine),\#(screen),\#(other)]}"#) == expected)
        for event in [screen, other, "", "[]", mine.replacing("320", with: "-1"), mine.replacing("320", with: "1e9")] {
            #expect(size("tileChanged", event) == nil)
        }
        #expect(size("participantLeft", mine) == nil)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3000 {
            var bytes = Array(mine.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            _ = size("tileChanged", String(decoding: bytes, as: UTF8.self))
        }
    }
}

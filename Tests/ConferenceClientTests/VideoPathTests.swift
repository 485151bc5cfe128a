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

    @Test("a stream states the shape of its source's samples, also when it is sent smaller")
    func sampleShape() throws {
        let file = TemporaryFile(".y4m")
        let picture = Data(repeating: 128, count: 160 * 96 * 3 / 2)
        try (Data("YUV4MPEG2 W160 H96 F25:1 A64:45\nFRAME\n".utf8) + picture).write(
            to: URL(fileURLWithPath: file.path))
        let pipeline = VideoSendPipeline(source: try Y4MVideoSource(path: file.path), settings: Self.settings)
        var request = request(0)
        for tile in [nil, VideoDimensions(width: 80, height: 48)] {
            request.tile = tile
            request.wallClockMilliseconds += 40
            let format = try #require(try pipeline.produce(request).frame).sample.format
            #expect(format.dimensions == tile ?? VideoDimensions(width: 160, height: 96))
            #expect(format.pixelAspectRatio == VideoDimensions(width: 64, height: 45))
        }
    }

    @Test("pictures of a file that are late make room for the next ones, those of a camera do not")
    func late() throws {
        let file = TemporaryFile(".y4m")
        var bytes = Data("YUV4MPEG2 W160 H96 F25:1\n".utf8)
        for number in 0..<10 {
            bytes += Data("FRAME\n".utf8) + Data(repeating: UInt8(20 * number), count: 160 * 96 * 3 / 2)
        }
        try bytes.write(to: URL(fileURLWithPath: file.path))
        let source = try Y4MVideoSource(path: file.path)
        let stored = VideoSendPipeline(source: source, settings: Self.settings)
        var request = request(0)
        #expect(try stored.produce(request).missed.count == 0)
        request.lateness = .milliseconds(100)
        let output = try stored.produce(request)
        #expect(output.keepsTime && output.missed == (2, .milliseconds(80)) && output.duration == .milliseconds(40))
        guard case .picture(let next) = try source.nextFrame(wallClockMilliseconds: 0).content else {
            Issue.record("no picture")
            return
        }
        #expect(next.withPlane(0) { bytes, _ in bytes[0] } == 80)
        let camera = SyntheticVideoSource(
            name: "Ada", dimensions: VideoDimensions(width: 160, height: 96), frameRate: 25)
        let live = try VideoSendPipeline(
            source: ScaledSource(camera, dimensions: camera.dimensions), settings: Self.settings
        )
        .produce(request)
        #expect(!live.keepsTime && live.missed.count == 0)
    }

    @Test("audio that could not be sent in time is left out of its source")
    func lateAudio() throws {
        let clip = (0..<5).map { OutgoingAudio(payload: ByteBuffer(bytes: [UInt8($0)]), level: .silence) }
        let sender = AudioSendPipeline(source: OpusClipSource(clip: clip))
        let sent = try [0, 0, 2, 0, 7].map { missed in
            try sender.produce(bitRate: nil, leavingOut: missed).payload.getBytes(at: 0, length: 1)
        }
        #expect(sent == [[0], [1], [4], [0], [3]])
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

    @Test("a picture that finds the disk full is an error that names its file once")
    func fullDisk() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("1.png").path
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let camera = SyntheticVideoSource(
            name: "Ada", dimensions: VideoDimensions(width: 320, height: 180), frameRate: 25)
        let sender = VideoSendPipeline(source: camera, settings: Self.settings)
        let receiver = VideoReceivePipeline()
        let frame = try #require(try sender.produce(request(0)).frame)
        _ = receiver.decode(frame.sample)
        let snapshot = #expect(throws: ClientError.self) { try receiver.writeSnapshot(to: path) }
        let sequence = try PNGSequenceWriter(#require(NumberedPath("\(folder.path)/%d.png")))
        let picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 320, height: 180)).freeze()
        let numbered = #expect(throws: MediaFileError.self) { try sequence.write(picture) }
        for text in [snapshot?.description, numbered?.description].compactMap(\.self) {
            #expect(text.hasPrefix("cannot write \(path): "))
            #expect(text.components(separatedBy: path).count == 2)
        }
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

import Foundation
import MediaCore
import MediaFiles
import Testing
import VideoCoding

@testable import ConferenceClient

@Suite("Video sources")
struct VideoSourceTests {
    /// Encodes a few frames of the test camera and writes them to a file.
    ///
    /// - Parameter start: The seconds before the first one.
    static func write(
        _ count: Int, to path: String, width: Int = 160, height: Int = 96, keyframeInterval: Int = 5, start: Int64 = 0
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
                presentationTime: MediaTime(value: start * 1000 + Int64(index) * 40, timescale: 1000),
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

    @Test(
        "a film that no decoder takes is refused with the reason before anyone joins",
        arguments: [
            (
                "send 4:2:0 video",
                "AAAAAWf0EAqRl3sBEAAAAwAQAAADACBAAAAAAWjuDxEhEAAAAWWIhAS//veEfgU1wTv+ZZNB6/mWWkI9"
            ),
            ("send 8-bit video", "AAAAAWduEAqmy72AiAAAAwAIAAADABAgAAAAAWjuDyyLAAABZYiEBb/+7lT+BTa7SV0xewYXEkPR"),
        ])
    func undecodable(reason: String, stream: String) throws {
        let file = TemporaryFile(".h264")
        try #require(Data(base64Encoded: stream)).write(to: URL(fileURLWithPath: file.path))
        for reencodes in [nil, true, false] {
            #expect {
                try VideoInput(argument: file.path).open(name: "", settings: .init(reencodes: reencodes))
            } throws: { "\($0)".contains(reason) }
        }
    }

    @Test("a film whose pictures are to be turned is not sent as it is")
    func turned() throws {
        let file = TemporaryFile(".mp4")
        _ = try Self.write(3, to: file.path)
        try PlayTests.laySideways(file)
        #expect {
            try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        } throws: { "\($0)".contains("turned") && "\($0)".contains("--no-reencode") }
    }

    @Test("a film of which frames are cut away in front of others is not sent as it is")
    func cutInFront() throws {
        let file = TemporaryFile(".mp4")
        _ = try Self.write(12, to: file.path)
        try PlayTests.trim(file, to: 160, from: 7 * 3600)
        #expect {
            try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        } throws: { "\($0)".contains("edit list") && "\($0)".contains("--no-reencode") }
    }

    @Test("frames that are cut away at the end of a film are not sent")
    func cutAtEnd() throws {
        let file = TemporaryFile(".mp4")
        let samples = try Self.write(7, to: file.path)
        try PlayTests.trim(file, to: 160, from: 0)
        let source = try EncodedFileSource(path: file.path, fixedFrameRate: nil)
        for index in 0..<9 {
            #expect(sample(try source.nextFrame(wallClockMilliseconds: 0))?.data == samples[index % 4].data)
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

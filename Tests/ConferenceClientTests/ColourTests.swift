import Compositing
import Dispatch
import Foundation
import MediaCore
import MediaFiles
import Testing
import VideoCoding

@testable import ConferenceClient

private let fullRange = ColourDescription(
    primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6, isFullRange: true)

/// Full range on its way through the client: sources, files and pictures.
@Suite("Colour in the client")
struct ColourTests {
    private static let size = VideoDimensions(width: 64, height: 48)

    /// Grey 224 on the left, 32 on the right, in the numbers of a colour.
    private func greys(_ colour: ColourDescription) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: .i420, dimensions: Self.size)
        picture.attachments.colour = colour
        for plane in 0..<3 {
            picture.withMutablePlane(plane) { bytes, stride in
                for index in bytes.indices {
                    bytes[index] = plane > 0 ? 128 : index % stride < 32 ? 224 : 32
                }
            }
        }
        return picture.freeze()
    }

    private func encoded(_ colour: ColourDescription) throws -> SampleBuffer {
        var properties = CompressionProperties(averageBitRate: .megabits(2))
        properties.colour = colour
        let outputs = EncodeOutputQueue()
        let encoder = try CompressionSession(
            dimensions: Self.size, properties: properties, outputHandler: outputs.append)
        try encoder.encode(greys(colour), presentationTime: .zero)
        return try #require(outputs.next()?.frame?.sample)
    }

    /// The green of the middles of both halves of a PNG file, which show greys.
    private func levels(_ path: String) throws -> [Int] {
        let data = try #require(FileManager.default.contents(atPath: path))
        let image = try ImageAsset(name: "snapshot", png: Array(data))
        return image.picture.withPlane(0) { bytes, stride in
            [16, 48].map { Int(bytes[24 * stride + 4 * $0 + 1]) }
        }
    }

    private func expect(_ levels: [Int], near expected: [Int]) {
        for (level, expected) in zip(levels, expected) { #expect(abs(level - expected) <= 1, "\(levels)") }
    }

    @Test("a snapshot shows the greys that a stream of full range has, and widens those of limited range")
    func snapshot() throws {
        for (colour, expected) in [
            (fullRange, [224, 32]), (ColourDescription(matrixCoefficients: 1, isFullRange: true), [224, 32]),
            (.bt601, [242, 19]), (.bt709, [242, 19]), (.unspecified, [242, 19]),
        ] {
            let file = TemporaryFile(".png")
            let pipeline = VideoReceivePipeline()
            let output = pipeline.decode(try encoded(colour))
            #expect(output.pictureCount == 1)
            try pipeline.writeSnapshot(to: file.path)
            expect(try levels(file.path), near: expected)
        }
    }

    @Test("a composed picture of a full-range source is a PNG with the source's greys")
    func composed() throws {
        let id = SourceID.camera(ParticipantID(rawValue: 1))
        for size in [Self.size, VideoDimensions(width: 128, height: 96)] {
            let content = CompositionSource(id: id, name: "", content: .picture(greys(fullRange), isStale: false))
            let composed = CompositionRenderer().render(
                [CompositionRequest(canvas: size, layers: [CompositionLayer(source: id, rect: PixelRect(size))])],
                inputs: CompositionInputs(sources: [id: content]), at: .zero)
            let file = TemporaryFile(".png")
            try #require(composed.first).picture.writePNG(to: file.path)
            guard size == Self.size else { continue }
            expect(try levels(file.path), near: [224, 32])
        }
    }

    @Test("a Y4M file of full range says so, and is read as such")
    func y4m() throws {
        for colour in [fullRange, .bt601] {
            let file = TemporaryFile(".y4m")
            let writer = try Y4MWriter(path: file.path, frameRate: 30)
            try writer.write(greys(colour))
            // A picture of another range becomes like the first one.
            try writer.write(greys(colour == .bt601 ? fullRange : .bt601))
            try writer.finish()
            let source = try Y4MVideoSource(path: file.path)
            for expected in [224, colour == .bt601 ? 208 : 242] {
                guard case .picture(let picture) = try source.nextFrame(wallClockMilliseconds: 0).content else {
                    Issue.record("no picture")
                    return
                }
                #expect(picture.attachments.colour.isFullRange == colour.isFullRange)
                #expect(picture.withPlane(0) { bytes, _ in Int(bytes[8]) } == expected)
            }
        }
    }

    @Test("sent video signals the colour of its source, and BT.601 for an unspecified one")
    func sent() throws {
        for (colour, expected) in [
            (fullRange, fullRange), (.bt709, .bt709), (.unspecified, .bt601),
            (
                ColourDescription(isFullRange: true),
                ColourDescription(
                    primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6, isFullRange: true)
            ),
        ] {
            let source = StillSource(picture: greys(colour))
            let pipeline = VideoSendPipeline(
                source: source, settings: .init(backEnd: .openH264, profile: .constrainedBaseline))
            for time: Int64 in [0, 33] {
                let output = try pipeline.produce(
                    .init(
                        wallClockMilliseconds: time, bitRate: .megabits(1), isKeyframeWanted: false, hasRoom: true))
                #expect(output.frame?.sample.format.colour == expected)
                #expect(output.frame?.isKeyframe == (time == 0))
            }
        }
    }
}

private final class StillSource: VideoSource {
    let picture: PixelBuffer
    var dimensions: VideoDimensions { picture.dimensions }
    let frameRate = 30.0

    init(picture: PixelBuffer) {
        self.picture = picture
    }

    func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        SourceFrame(content: .picture(picture), duration: .milliseconds(33))
    }
}

import Foundation
import H264
import MediaCore
import NIOCore
import Synchronization
import Testing
import VideoCoding

@Suite("The examples of codec sessions")
struct CodecExampleTests {
    @Test("are shown as they are compiled", arguments: ["README.md", "docs/codec-sessions.md"])
    func shown(document: String) throws {
        let examples = try DocumentedExamples(file: "CodecExamples.swift")
        #expect(examples.examples.count == 5)
        try examples.checkCode(in: document)
    }

    @Test("are followed by each encoder's support of each property")
    func propertyTable() throws {
        let table = PropertyTable.text
        #expect(
            try DocumentedExamples.text("docs/codec-sessions.md").contains(table),
            "docs/codec-sessions.md should have\n\(table)")
    }

    /// Grey pictures that grow lighter.
    private func pictures(_ count: Int) -> [PixelBuffer] {
        (0..<count).map { number in
            var picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 640, height: 360))
            for plane in 0..<3 {
                picture.withMutablePlane(plane) { bytes, _ in
                    for index in bytes.indices { bytes[index] = plane == 0 ? UInt8(40 + 10 * number) : 128 }
                }
            }
            return picture.freeze()
        }
    }

    private func luma(_ picture: PixelBuffer) -> UInt8 {
        picture.withPlane(0) { bytes, stride in bytes[100 * stride + 100] }
    }

    @Test("encode a file, and decode it again in both ways")
    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("stream.264").path
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try encode(pictures(10), to: file)
        try file.close()

        var shown: [(luma: UInt8, time: MediaTime)] = []
        try decodeFile(path) { shown.append((luma($0), $1)) }
        #expect(shown.count == 10)
        #expect(shown.map(\.time) == (0..<10).map { MediaTime(value: $0, timescale: 30) })
        for (number, picture) in shown.enumerated() {
            #expect(abs(Int(picture.luma) - (40 + 10 * number)) <= 4)
        }

        var reader = ElementaryStreamReader()
        reader.append(ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path))))
        var samples: [SampleBuffer] = []
        while let sample = reader.nextSample() ?? reader.finish() { samples.append(sample) }
        let lumas = Mutex<[UInt8]>([])
        try await decodeAsynchronously(samples) { picture in
            let luma = picture.withPlane(0) { bytes, stride in bytes[100 * stride + 100] }
            lumas.withLock { $0.append(luma) }
        }
        #expect(lumas.withLock { $0 } == shown.map(\.luma))
    }

    @Test("change an encoder's rate")
    func rate() throws {
        let encoder = try CompressionSession(
            dimensions: VideoDimensions(width: 640, height: 360),
            properties: CompressionProperties(averageBitRate: .megabits(1)), outputHandler: { _ in })
        #expect(try adapt(encoder, to: .kilobits(300)) == .kilobits(300))
    }

    @Test("encode a recording in several passes", .enabled(if: EncoderBackEnd.x264.isBuilt))
    func passes() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var samples: [SampleBuffer] = []
        try encodeInPasses(pictures(10), folder: folder.path) { samples.append($0) }
        #expect(samples.count == 10)
        #expect(samples.first?.isSync == true)
    }
}

import Compositing
import Foundation
import MediaCore
import Testing

/// If `CONFRELAY_PICTURE_DIR` names a folder, the picture of docs/compositing.md is written there.
@Suite("The example of a custom compositor")
struct CompositingExampleTests {
    private let ada = SourceID.camera(ParticipantID(rawValue: 1))
    private let ben = SourceID.camera(ParticipantID(rawValue: 2))

    @Test("is shown as it is compiled")
    func shown() throws {
        let examples = try DocumentedExamples(file: "CompositingExamples.swift")
        #expect(examples.examples.count == 2)
        try examples.checkCode(in: "docs/compositing.md")
    }

    /// A picture in place of a camera's.
    private func picture(of name: String) throws -> PixelBuffer {
        let canvas = VideoDimensions(width: 800, height: 450)
        let request = CompositionRequest(grid: [ada], canvas: canvas)
        let source = CompositionSource(id: ada, name: name, content: .placeholder())
        let inputs = CompositionInputs(sources: [ada: source])
        return try #require(CompositionRenderer().render([request], inputs: inputs, at: .zero).first).picture
    }

    private func sources() throws -> [SourceID: CompositionSource] {
        [
            ada: CompositionSource(id: ada, name: "Ada", content: .picture(try picture(of: "Ada"), isStale: false)),
            ben: CompositionSource(id: ben, name: "Ben", content: .picture(try picture(of: "Ben"), isStale: false)),
        ]
    }

    private func luma(_ picture: PixelBuffer, _ x: Int, _ y: Int) -> UInt8 {
        picture.withPlane(0) { bytes, stride in bytes[y * stride + x] }
    }

    @Test("wipes from one source to the other")
    func wipes() throws {
        let times = (0...4).map { MediaTime(value: $0, timescale: 4) }
        let frames = renderWipe(from: ada, to: ben, try sources(), at: times)
        #expect(frames.map(\.origin) == Array(repeating: .rendered, count: 5))
        let (before, after) = (luma(frames[0].picture, 4, 4), luma(frames[4].picture, 4, 4))
        try #require(abs(Int(before) - Int(after)) > 8)
        for (frame, edge) in zip(frames, [0, 100, 320, 540, 640]) {
            for x in [4, 90, 110, 310, 330, 530, 550, 636] {
                // Scaling may be off by one.
                let expected = x < edge ? after : before
                #expect(abs(Int(luma(frame.picture, x, 4)) - Int(expected)) <= 1, "\(x) of \(edge)")
            }
        }
        if let folder = ProcessInfo.processInfo.environment["CONFRELAY_PICTURE_DIR"] {
            try renderWipe(from: ada, to: ben, try sources(), at: [MediaTime(value: 9, timescale: 20)])[0].picture
                .writePNG(to: "\(folder)/wipe.png")
        }
    }

    @Test("names the missing source when it falls back")
    func missing() throws {
        let sources = try sources().filter { $0.key == ada }
        let frame = renderWipe(from: ada, to: ben, sources, at: [MediaTime(value: 1, timescale: 2)])[0]
        #expect(frame.origin == .fallback(.sourceMissing(ben)))
    }
}

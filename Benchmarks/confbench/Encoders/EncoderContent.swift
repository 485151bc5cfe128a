import Compositing
import Foundation
import H264
import MediaCore
import NIOCore

/// Pictures with which encoders are measured, and their origin.
struct EncoderContent {
    var name: String
    var reel: PictureReel

    /// Tiles of a composed picture.
    private static let tileCount = 4

    /// A call of four, two of whom talk, as the relay composes it from the pictures that the participants' own encoders
    /// have sent.
    static func composed(frames: Int, in directory: ScratchDirectory) throws -> EncoderContent {
        let senders = try (1...tileCount).map { number in
            try SenderPath(
                scene: TalkerScene(
                    seed: UInt64(number), dimensions: Workload.sourceDimensions, isTalking: !number.isMultiple(of: 2)))
        }
        return try grid(name: "composed", frames: frames, in: directory) { tile, frame in
            try senders[tile].picture(frame)
        }
    }

    /// One file, scaled to the whole picture.
    static func file(_ path: String, frames: Int, in directory: ScratchDirectory) throws -> EncoderContent {
        let reel = try PictureReel(path: directory.path(of: "file.i420"), dimensions: Workload.canvas)
        guard try reel.append(contentsOf: path, atMost: frames) > 0 else {
            throw BenchmarkError.codecFailed(reason: "\(path) holds no picture that can be decoded")
        }
        return EncoderContent(name: URL(fileURLWithPath: path).lastPathComponent, reel: reel)
    }

    /// Four clips of a folder, composed as a call: of the clips that are long enough, those with the largest pictures,
    /// and then by name. Nil if there are not four.
    static func clips(in folder: String, frames: Int, in directory: ScratchDirectory) throws -> EncoderContent? {
        let candidates = ClipFolder.clips(in: folder)
            .compactMap { try? StreamSummary(path: $0, atMost: frames) }
            .filter { $0.frames >= frames }
            .sorted { ($1.area, $0.path) < ($0.area, $1.path) }
        var chosen: [PictureReel] = []
        for candidate in candidates where chosen.count < tileCount {
            let name = directory.path(of: "clip-\(chosen.count).i420")
            let reel = try PictureReel(path: name, dimensions: Workload.sourceDimensions)
            // Not every stream can be decoded from its first frame to its last.
            if try reel.append(contentsOf: candidate.path, atMost: frames) == frames { chosen.append(reel) }
        }
        guard chosen.count == tileCount else { return nil }
        return try grid(name: "clips", frames: frames, in: directory) { tile, frame in try chosen[tile].picture(frame) }
    }

    private static func grid(
        name: String, frames: Int, in directory: ScratchDirectory,
        _ picture: (_ tile: Int, _ frame: Int) throws -> PixelBuffer
    ) throws -> EncoderContent {
        let participants = (0..<tileCount).map { SourceID.camera(ParticipantID(rawValue: UInt64($0 + 1))) }
        let request = CompositionRequest(grid: participants, canvas: Workload.canvas)
        let renderer = CompositionRenderer()
        let reel = try PictureReel(path: directory.path(of: "\(name).i420"), dimensions: Workload.canvas)
        for frame in 0..<frames {
            var sources: [SourceID: CompositionSource] = [:]
            for (tile, id) in participants.enumerated() {
                sources[id] = CompositionSource(
                    id: id, name: "\(id.participant)", content: .picture(try picture(tile, frame), isStale: false))
            }
            let inputs = CompositionInputs(sources: sources)
            for composed in renderer.render([request], inputs: inputs, at: .zero) { try reel.append(composed.picture) }
        }
        return EncoderContent(name: name, reel: reel)
    }

    /// The picture at `number`; the reel is played forwards and backwards, so that it continues without a cut.
    func picture(_ number: Int) throws -> PixelBuffer { try reel.pictureToAndFro(number) }
}

/// The length of a raw H.264 stream and the size of its pictures, found without decoding.
private struct StreamSummary {
    var path: String
    var frames = 0
    var area = 0

    init(path: String, atMost limit: Int) throws {
        self.path = path
        var reader = ElementaryStreamReader()
        reader.append(ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path))))
        while frames < limit, let sample = reader.nextSample() ?? reader.finish() {
            frames += 1
            area = max(area, sample.format.dimensions.area)
        }
    }
}

import Compositing
import MediaCore
import VideoCoding

@testable import confbench

/// Marked pictures of a scene, composed, coded and decoded again.
final class MarkedGrid {
    static let scene = MovingScene(dimensions: Workload.sourceDimensions)

    let cells: [PixelRect]
    private let ids: [SourceID]
    private let renderer = CompositionRenderer()
    private let outputs = EncodeOutputQueue()
    private let encoder: CompressionSession
    private let decoder = DecodingPipeline()

    /// - Parameter quantizer: The QP of all frames, 10 to 51.
    init(count: Int, quantizer: Int) throws {
        cells = GridLayout.cells(count: count, canvas: Workload.canvas)
        ids = (0..<count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0 + 1))) }
        var properties = Workload.encoder
        properties.rateControlMode = .quality
        properties.quality = Double(51 - quantizer) / 41
        encoder = try CompressionSession(
            dimensions: Workload.canvas, properties: properties, outputHandler: outputs.append)
    }

    static func marked(_ mark: FrameMark) -> PixelBuffer {
        let original = scene.picture(mark.number)
        var picture = original.part(PixelRect(original.dimensions))
        mark.draw(into: &picture)
        return picture.freeze()
    }

    /// Shows one picture for each tile, and returns the coded frame.
    func encode(_ pictures: [PixelBuffer], number: Int) throws -> SampleBuffer? {
        var sources: [SourceID: CompositionSource] = [:]
        for (id, picture) in zip(ids, pictures) {
            sources[id] = CompositionSource(
                id: id, name: "Load \(id.participant)", content: .picture(picture, isStale: false),
                decoration: TileDecoration(isSpeaking: true))
        }
        let request = CompositionRequest(grid: ids, canvas: Workload.canvas)
        let time = MediaTime(value: Int64(number), timescale: Int32(Workload.frameRate))
        let composed = renderer.render([request], inputs: CompositionInputs(sources: sources), at: time)
        try encoder.encode(composed[0].picture, presentationTime: time)
        return outputs.next()?.frame?.sample
    }

    func decode(_ sample: SampleBuffer) -> PixelBuffer? {
        var picture: PixelBuffer?
        decoder.decode(sample) { event in
            if case .output(let output) = event { picture = output.picture?.pixelBuffer }
        }
        return picture
    }
}

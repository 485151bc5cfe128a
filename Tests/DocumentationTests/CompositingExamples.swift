import Compositing
import MediaCore
import PixelTransfer

// docs/compositing.md shows, or links to, the code between `example` and `end`; the tests run it.

// example wipe
/// Wipes the upper layer over the lower one, from the left: its opacity says how far.
final class WipeCompositor: VideoCompositing {
    let sourceAttributes = PixelBufferAttributes(formats: [.i420])
    let destinationAttributes = PixelBufferAttributes(formats: [.i420])

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        let layers = request.instruction.resolvedLayers(at: request.time)
        guard layers.count == 2 else { throw .failed(reason: "a wipe has two layers, not \(layers.count)") }
        let width = request.canvas.width
        let edge = Int(Double(width) * layers[1].opacity) / 2 * 2  // two samples share their colour
        var canvas = request.makeDestination()
        try canvas.withI420Region { canvas throws(VideoCompositingError) in
            try draw(layers[0].source, in: edge..<width, of: request, on: canvas)
            try draw(layers[1].source, in: 0..<edge, of: request, on: canvas)
        }
        return canvas.freeze()
    }

    private func draw(
        _ source: SourceID, in columns: Range<Int>, of request: VideoCompositionRequest, on canvas: I420Region
    ) throws(VideoCompositingError) {
        if request.isCancelled { throw .cancelled }
        guard case .picture(let picture, _, _) = request.source(source)?.content else { throw .sourceMissing(source) }
        guard !columns.isEmpty else { return }
        let size = picture.dimensions
        let left = columns.lowerBound * size.width / request.canvas.width / 2 * 2
        let right = columns.upperBound * size.width / request.canvas.width
        let seen = PixelRect(x: left, y: 0, width: right - left, height: size.height)
        let place = PixelRect(x: columns.lowerBound, y: 0, width: columns.count, height: request.canvas.height)
        picture.withPlanes { canvas.part(place).scale(I420Region(planes: $0, rect: seen)) }
    }
}
// end

/// Shows the wipe at some times of its second.
func renderWipe(
    from ada: SourceID, to ben: SourceID, _ sources: [SourceID: CompositionSource], at times: [MediaTime]
) -> [ComposedPicture] {
    // example render
    let canvas = VideoDimensions(width: 640, height: 360)
    let duration = MediaTimeRange(start: .zero, duration: MediaTime(value: 1, timescale: 1))
    let progress = Ramp(timeRange: duration, from: 0.0, to: 1.0, easing: .easeInOut)
    let instruction = CompositionInstruction(
        timeRange: duration,
        layers: [
            CompositionLayer(source: ada, rect: PixelRect(canvas)),
            CompositionLayer(source: ben, rect: PixelRect(canvas), opacityRamps: [progress]),
        ])
    let request = CompositionRequest(canvas: canvas, instruction: instruction)
    let renderer = CompositionRenderer(compositor: WipeCompositor())
    let frames = times.map { time in
        renderer.render([request], inputs: CompositionInputs(sources: sources), at: time)[0]
    }
    // end
    return frames
}

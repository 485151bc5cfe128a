import MediaCore
import PixelTransfer

@testable import Compositing

/// A compositor with the behaviour that a test sets.
final class ScriptedCompositor: VideoCompositing {
    let sourceAttributes: PixelBufferAttributes
    let destinationAttributes = PixelBufferAttributes(formats: [.i420])
    var error: VideoCompositingError?
    var isIncomplete = false
    var wrongSize: VideoDimensions?
    var duringRender: () -> Void = {}
    /// The formats of the pictures that it got, one after the other.
    private(set) var formats: [PixelFormat] = []
    private(set) var ticks: [Int] = []

    init(formats: [PixelFormat] = []) {
        sourceAttributes = PixelBufferAttributes(formats: formats)
    }

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        ticks.append(request.tick)
        duringRender()
        if request.isCancelled { throw .cancelled }
        if let error { throw error }
        if isIncomplete { request.markIncomplete() }
        if let wrongSize { return MutablePixelBuffer(format: .i420, dimensions: wrongSize).freeze() }
        for layer in request.instruction.layers {
            guard let source = request.source(layer.source) else { throw .sourceMissing(layer.source) }
            if case .picture(let picture, _, _) = source.content { formats.append(picture.format) }
        }
        var destination = request.makeDestination()
        destination.withI420Region { $0.fill(luma: UInt8(truncatingIfNeeded: 100 + request.tick)) }
        return destination.freeze()
    }
}

extension CompositionRenderer {
    func render(
        _ request: CompositionRequest, _ list: CompositionSource..., at time: MediaTime = .zero,
        cancellation: CompositionCancellation? = nil
    ) -> ComposedPicture {
        let inputs = CompositionInputs(sources: Dictionary(uniqueKeysWithValues: list.map { ($0.id, $0) }))
        return render([request], inputs: inputs, at: time, cancellation: cancellation)[0]
    }
}

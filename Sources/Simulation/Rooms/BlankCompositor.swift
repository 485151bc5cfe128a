import Compositing
import MediaCore

/// Hands out pictures on which nothing is drawn.
final class BlankCompositor: VideoCompositing {
    let sourceAttributes = PixelBufferAttributes.any
    let destinationAttributes = PixelBufferAttributes.any

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        request.makeDestination().freeze()
    }
}

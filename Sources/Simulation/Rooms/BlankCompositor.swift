import Compositing
import MediaCore

/// A compositor whose pictures are blank.
final class BlankCompositor: VideoCompositing {
    let sourceAttributes = PixelBufferAttributes.any
    let destinationAttributes = PixelBufferAttributes.any

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        request.makeDestination().freeze()
    }
}

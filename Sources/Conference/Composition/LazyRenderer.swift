import Compositing
import MediaCore

/// A renderer that its first job makes, on the worker, so that the first join does not delay the room's loop. It is
/// made again when viewers come back.
final class LazyRenderer {
    private let makeCompositor: (@Sendable () -> any VideoCompositing)?
    private var renderer: CompositionRenderer?

    /// - Parameter makeCompositor: Makes a custom compositor; nil: the built-in one is used.
    init(makeCompositor: (@Sendable () -> any VideoCompositing)?) {
        self.makeCompositor = makeCompositor
    }

    func render(
        _ requests: [CompositionRequest], inputs: CompositionInputs, at time: MediaTime,
        cancellation: CompositionCancellation
    ) -> [ComposedPicture] {
        guard !requests.isEmpty else {
            // Without viewers the renderer's memory is released.
            renderer = nil
            return []
        }
        let renderer = renderer ?? CompositionRenderer(compositor: makeCompositor?() ?? LayerCompositor())
        self.renderer = renderer
        return renderer.render(requests, inputs: inputs, at: time, cancellation: cancellation)
    }
}

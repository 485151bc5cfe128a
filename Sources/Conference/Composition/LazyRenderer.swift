package import Compositing
import MediaCore
package import VideoCoding

/// A renderer that its first job makes, on the worker, so that the first join does not delay the room's loop. It is
/// made again when viewers come back.
final class LazyRenderer {
    private let makeCompositor: (@Sendable () -> any VideoCompositing)?
    private let device: VAAPIDevice?
    private let surfaceCopies: SurfaceCopyCounter?
    private var renderer: CompositionRenderer?
    #if VAAPI
        private var deviceCompositor: DeviceCompositor?
    #endif

    /// - Parameters:
    ///   - makeCompositor: Makes a custom compositor; nil: the built-in one is used.
    ///   - device: The device that composes in place of the built-in compositor, while it can; nil: none.
    ///   - surfaceCopies: Of pictures that stay on the device; nil: none do.
    init(
        makeCompositor: (@Sendable () -> any VideoCompositing)?, device: VAAPIDevice? = nil,
        surfaceCopies: SurfaceCopyCounter? = nil
    ) {
        self.makeCompositor = makeCompositor
        self.device = device
        self.surfaceCopies = surfaceCopies
    }

    /// The device's work since this was asked last.
    func takeDeviceWork() -> DeviceComposition {
        #if VAAPI
            deviceCompositor?.takeWork() ?? DeviceComposition()
        #else
            DeviceComposition()
        #endif
    }

    func render(
        _ requests: [CompositionRequest], inputs: CompositionInputs, at time: MediaTime,
        cancellation: CompositionCancellation
    ) -> [ComposedPicture] {
        guard !requests.isEmpty else {
            // Without viewers the renderer's memory is released.
            release()
            return []
        }
        let renderer = renderer ?? CompositionRenderer(compositor: makeCompositor?() ?? builtInCompositor())
        self.renderer = renderer
        return renderer.render(requests, inputs: inputs, at: time, cancellation: cancellation)
    }

    private func builtInCompositor() -> any VideoCompositing {
        #if VAAPI
            if let device {
                let compositor = DeviceCompositor(device, surfaceCopies: surfaceCopies)
                deviceCompositor = compositor
                return compositor
            }
        #endif
        return LayerCompositor()
    }

    private func release() {
        renderer = nil
        #if VAAPI
            deviceCompositor = nil
        #endif
    }
}

extension VAAPIDevice {
    /// Makes compositors that use the device, and software while it fails.
    package var makeCompositor: @Sendable () -> any VideoCompositing {
        #if VAAPI
            { DeviceCompositor(self) }
        #else
            { LayerCompositor() }
        #endif
    }
}

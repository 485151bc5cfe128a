#if VAAPI
    package import Compositing
    package import MediaCore
    package import VideoCoding

    /// Composes on a device, and in software while the device fails: the very picture at which it did, too.
    package final class DeviceCompositor: VideoCompositing {
        /// Pictures are uploaded as NV12, so either layout will do.
        package let sourceAttributes = PixelBufferAttributes(formats: [.i420, .nv12])
        package let destinationAttributes = PixelBufferAttributes(formats: [.i420])

        private let device: VAAPIDevice
        private let surfaceCopies: SurfaceCopyCounter?
        private let frameLimit: Duration
        private let software = LayerCompositor()
        private var processor: VideoProcessor?
        private var fallback = HardwareFallback()
        private var work = DeviceComposition()

        /// - Parameters:
        ///   - surfaceCopies: Pictures stay in the device's memory, and this counts those that somebody has copied
        ///     after all; nil: all are copied at once.
        ///   - frameLimit: The longest that a picture may take before the device counts as hung.
        package init(
            _ device: VAAPIDevice, surfaceCopies: SurfaceCopyCounter? = nil,
            frameLimit: Duration = VAAPIDevice.frameLimit
        ) {
            self.device = device
            self.surfaceCopies = surfaceCopies
            self.frameLimit = frameLimit
        }

        package func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
            if let picture = try renderOnDevice(request) { return picture }
            return try software.render(request)
        }

        /// The device's work since this was asked last.
        func takeWork() -> DeviceComposition {
            defer { work = DeviceComposition() }
            return work
        }

        private func renderOnDevice(
            _ request: VideoCompositionRequest
        ) throws(VideoCompositingError) -> PixelBuffer? {
            let now = MonotonicInstant.zero + request.time.duration
            guard fallback.allowsDevice(now: now), let processor = processor(for: request.canvas, now: now),
                processor.composes(request.canvas)
            else { return nil }
            if let picture = try software.render(request, on: processor) {
                work.pictures += 1
                if picture.surface == nil { work.downloads += 1 }
                work.uploads += processor.uploads
                return picture
            }
            if let fault = processor.fault {
                let rest = fallback.failed(fault, now: now)
                if rest != nil { self.processor = nil }
                work.add(fault, retryAfter: rest)
            }
            return nil
        }

        private func processor(for canvas: VideoDimensions, now: MonotonicInstant) -> VideoProcessor? {
            if let processor { return processor }
            do throws(VideoCodingError) {
                processor = try VideoProcessor(
                    device, canvas: canvas, surfaceCopies: surfaceCopies, frameLimit: frameLimit)
            } catch {
                work.add(error, retryAfter: fallback.leave(now: now))
            }
            return processor
        }
    }

    extension VideoProcessor: CompositingDevice {}
#endif

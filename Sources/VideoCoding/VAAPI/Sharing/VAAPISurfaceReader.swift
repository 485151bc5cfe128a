#if VAAPI
    import CLibVA
    import MediaCore
    import Synchronization

    /// Copies pictures that were left on a device into memory, on a thread and through a display of its own, which the
    /// first copy makes.
    final class VAAPISurfaceReader: Sendable {
        private struct Request: Sendable {
            var surface: VAAPISharedSurface
            var dimensions: VideoDimensions
        }

        private typealias Thread = AbandonableThread<Request, PixelBuffer?>

        private enum State {
            case unused
            case works(Thread)
            /// It did not answer once.
            case isLost
        }

        let device: VAAPIDevice
        private let counter: SurfaceCopyCounter
        private let frameLimit: Duration
        private let state = Mutex(State.unused)

        init(_ device: VAAPIDevice, counter: SurfaceCopyCounter, frameLimit: Duration) {
            self.device = device
            self.counter = counter
            self.frameLimit = frameLimit
        }

        /// Copies the samples; nil where the device fails. Others who ask meanwhile wait.
        func read(_ surface: VAAPISharedSurface, _ dimensions: VideoDimensions) -> PixelBuffer? {
            state.withLock { state in
                var limit = frameLimit
                if case .unused = state {
                    limit = max(VAAPIDevice.openingLimit, frameLimit)
                    state = start()
                }
                guard case .works(let thread) = state else { return nil }
                let request = Request(surface: surface, dimensions: dimensions)
                guard let answer = thread.perform(request, within: limit) else {
                    state = .isLost
                    return nil
                }
                if answer != nil { counter.add() }
                return answer
            }
        }

        private func start() -> State {
            let device = device
            let thread = try? Thread.start {
                let worker = Worker(device)
                return { worker.read($0.surface, $0.dimensions) }
            }
            return thread.map(State.works) ?? .isLost
        }

        // MARK: On the thread

        private final class Worker {
            private let device: VAAPIDevice
            private var display: VAAPIDisplay?
            private var imports = VAAPIImports()
            private var images = VAAPIImageStore()

            init(_ device: VAAPIDevice) {
                self.device = device
            }

            deinit {
                guard let display else { return }
                images.close(display)
                imports.close(display)
            }

            func read(_ shared: VAAPISharedSurface, _ dimensions: VideoDimensions) -> PixelBuffer? {
                do throws(VideoCodingError) {
                    return try copy(shared, dimensions)
                } catch {
                    return nil
                }
            }

            private func copy(
                _ shared: VAAPISharedSurface, _ dimensions: VideoDimensions
            ) throws(VideoCodingError) -> PixelBuffer {
                let display = try open()
                imports.begin(display)
                let surface = try imports.surface(of: shared, display)
                let whole = VideoDimensions(
                    width: Int(clamping: shared.descriptor.width), height: Int(clamping: shared.descriptor.height))
                let image = try images.image(for: whole, display)
                var picture = MutablePixelBuffer(format: .nv12, dimensions: dimensions)
                try VAAPIImageTransfer.read(display, surface, by: image) { image throws(VideoCodingError) in
                    let planes = try image.planes(.nv12, dimensions)
                    for index in 0..<2 {
                        let (rowBytes, rows) = PixelFormat.nv12.planeSize(index, of: dimensions)
                        picture.withMutablePlane(index) { bytes, stride in
                            guard let base = bytes.baseAddress else { return }
                            for row in 0..<rows {
                                (base + row * stride).copyMemory(
                                    from: planes[index].base + row * planes[index].stride, byteCount: rowBytes)
                            }
                        }
                    }
                }
                return picture.freeze()
            }

            private func open() throws(VideoCodingError) -> VAAPIDisplay {
                if let display { return display }
                let display = try VAAPIDisplay(device)
                self.display = display
                return display
            }
        }
    }
#endif

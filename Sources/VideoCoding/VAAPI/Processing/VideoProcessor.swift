#if VAAPI
    package import MediaCore
    package import PixelTransfer
    import Synchronization

    /// A device's video processor, through VA-API: scales pictures and lays them over each other.
    ///
    /// All of libva's calls are made on a thread of its own. One that does not return within the limit is left there,
    /// and the processor fails from then on. It belongs to one caller at a time.
    package final class VideoProcessor {
        private enum Request: Sendable {
            case open(canvas: VideoDimensions)
            case compose
            case composeOnDevice(VideoDimensions, PixelBufferAttachments)
        }

        private enum Response: Sendable {
            case opened(CompositingAbilities)
            case composed
            case failed(VideoCodingError)
        }

        /// The layers and the canvas, handed to the thread and back.
        private final class Work: Sendable {
            struct State: ~Copyable {
                var layers: [PictureLayer] = []
                var tick = 0
                var canvas: MutablePixelBuffer?
                /// A canvas that stays on the device.
                var picture: PixelBuffer?
                /// Pictures that were copied to the device for it.
                var uploads: UInt64 = 0
            }

            let state = Mutex(State())
        }

        private let device: VAAPIDevice
        private let thread: AbandonableThread<Request, Response>
        private let work: Work
        private let frameLimit: Duration
        /// True before the device's first picture, and before the one after a fault, for which the driver is loaded.
        private var isOpening = true
        /// True once the thread was left to itself.
        private var isLost = false
        package let abilities: CompositingAbilities
        /// True if canvases can stay on the device.
        package private(set) var keepsCanvases: Bool
        /// Pictures that were copied to the device for the last one.
        package private(set) var uploads: UInt64 = 0
        /// The reason for which the last picture was not composed.
        package private(set) var fault: VideoCodingError?

        /// - Parameters:
        ///   - canvas: The size of the first picture.
        ///   - surfaceCopies: Counts the canvases that stayed on the device and were copied after all; nil: none stays.
        package init(
            _ device: VAAPIDevice, canvas: VideoDimensions, surfaceCopies: SurfaceCopyCounter? = nil,
            frameLimit: Duration = VAAPIDevice.frameLimit
        ) throws(VideoCodingError) {
            self.device = device
            self.frameLimit = frameLimit
            let work = Work()
            self.work = work
            let reader = surfaceCopies.map { VAAPISurfaceReader(device, counter: $0, frameLimit: frameLimit) }
            keepsCanvases = reader != nil
            thread = try AbandonableThread.start {
                let worker = Worker(device: device, reader: reader, work: work)
                return { worker.answer($0) }
            }
            switch thread.perform(.open(canvas: canvas), within: max(VAAPIDevice.openingLimit, frameLimit)) {
            case .opened(let abilities): self.abilities = abilities
            case .failed(let error): throw error
            case .composed, nil: throw .hardwareHung(device)
            }
        }

        /// Lays pictures over each other, the lowest first, which covers the canvas. Pictures of the last two ticks are
        /// not uploaded again.
        ///
        /// - Returns: The canvas; nil where the device failed, as `fault` says.
        package func compose(
            _ layers: inout [PictureLayer], tick: Int, into canvas: consuming MutablePixelBuffer
        ) -> MutablePixelBuffer? {
            guard !isLost else { return nil }
            var handedOver = Optional(canvas)
            work.state.withLock { $0.canvas = handedOver.take() }
            guard perform(.compose, &layers, tick: tick) else { return nil }
            var result: MutablePixelBuffer?
            work.state.withLock { result = $0.canvas.take() }
            return result
        }

        /// Does the same and leaves the canvas on the device, in NV12.
        ///
        /// - Returns: The canvas; nil where the device failed, as `fault` says, or keeps no canvases.
        package func compose(
            _ layers: inout [PictureLayer], tick: Int, canvas: VideoDimensions, attachments: PixelBufferAttachments
        ) -> PixelBuffer? {
            guard !isLost, keepsCanvases, perform(.composeOnDevice(canvas, attachments), &layers, tick: tick) else {
                return nil
            }
            let picture = work.state.withLock { state in
                defer { state.picture = nil }
                return state.picture
            }
            if picture == nil { keepsCanvases = false }
            return picture
        }

        /// Has the thread compose. Returns false at a fault.
        private func perform(_ request: Request, _ layers: inout [PictureLayer], tick: Int) -> Bool {
            work.state.withLock { state in
                swap(&state.layers, &layers)
                state.tick = tick
            }
            switch thread.perform(request, within: isOpening ? max(VAAPIDevice.openingLimit, frameLimit) : frameLimit) {
            case .composed: fault = nil
            case .failed(let error): fault = error
            case .opened, nil:
                // The thread keeps the canvas and the pictures.
                isLost = true
                fault = .hardwareHung(device)
                return false
            }
            isOpening = fault != nil
            work.state.withLock { state in
                swap(&state.layers, &layers)
                uploads = state.uploads
            }
            return fault == nil
        }

        // MARK: - On the thread

        private final class Worker {
            private let device: VAAPIDevice
            private let reader: VAAPISurfaceReader?
            private let work: Work
            private var canvas = VideoDimensions(width: 0, height: 0)
            private var context: VAAPIProcessContext?

            init(device: VAAPIDevice, reader: VAAPISurfaceReader?, work: Work) {
                self.device = device
                self.reader = reader
                self.work = work
            }

            func answer(_ request: Request) -> Response {
                do throws(VideoCodingError) {
                    switch request {
                    case .open(let canvas):
                        self.canvas = canvas
                        return .opened(try open().capabilities.abilities)
                    case .compose, .composeOnDevice:
                        // Behind a failure all begins anew: what the driver still holds is unknown.
                        try compose(request, on: open())
                        return .composed
                    }
                } catch {
                    context = nil
                    return .failed(error)
                }
            }

            private func open() throws(VideoCodingError) -> VAAPIProcessContext {
                if let context { return context }
                let context = try VAAPIProcessContext(device, canvas: canvas, reader: reader)
                self.context = context
                return context
            }

            private func compose(_ request: Request, on context: VAAPIProcessContext) throws(VideoCodingError) {
                let fault = work.state.withLock { state -> VideoCodingError? in
                    let before = context.uploadCount
                    defer { state.uploads = context.uploadCount &- before }
                    do throws(VideoCodingError) {
                        if case .composeOnDevice(let canvas, let attachments) = request {
                            state.picture = try context.composeOnDevice(
                                state.layers, tick: state.tick, canvas: canvas, attachments: attachments)
                        } else {
                            guard var canvas = state.canvas.take() else { return .sessionInvalidated }
                            try context.compose(state.layers, tick: state.tick, into: &canvas)
                            state.canvas = consume canvas
                        }
                    } catch {
                        return error
                    }
                    return nil
                }
                if let fault { throw fault }
            }
        }
    }
#endif

#if VAAPI
    import H264
    import MediaCore
    import NIOCore

    /// An encoder of a GPU, through VA-API.
    ///
    /// All of libva's calls are made on a thread of the encoder's own. One that does not return within the limit is
    /// left there, and the encoder fails from then on.
    final class VAAPIEncoder: EncoderBackEndSession {
        private(set) var parameterSets: [ByteBuffer]
        let isDelayed = false

        private enum Request: Sendable {
            case open
            case encode(PixelBuffer, isIDR: Bool, rate: VAAPIRateParameters, qp: Int?)
        }

        private enum Response: Sendable {
            case opened(parameterSets: [ByteBuffer])
            case frame(BackEndFrame, parameterSets: [ByteBuffer]?)
            case failed(VideoCodingError)
        }

        private let device: VAAPIDevice
        private let frameLimit: Duration
        private let thread: AbandonableThread<Request, Response>
        private var rate: VAAPIRateParameters
        /// Keeps the rate in place of the driver's rate control; nil: the driver does.
        private var control: QPRateControl?
        /// The QP of all frames where the rate does not count.
        private let constantQP: Int?

        init(
            device: VAAPIDevice, frameLimit: Duration, properties: CompressionProperties, dimensions: VideoDimensions
        ) throws(VideoCodingError) {
            self.device = device
            self.frameLimit = frameLimit
            rate = VAAPIRateParameters(properties)
            constantQP = properties.rateControlMode == .quality ? properties.qualityQP : nil
            if properties.controlsDeviceQP, properties.rateControlMode != .quality {
                let leastQP = properties.rateControlMode == .constrainedVariable ? properties.qualityQP : 0
                control = QPRateControl(rate: EncodingRate(properties), dimensions: dimensions, leastQP: leastQP)
            }
            thread = try AbandonableThread.start {
                let worker = Worker(device: device, properties: properties, dimensions: dimensions)
                return { worker.answer($0) }
            }
            parameterSets = []
            switch thread.perform(.open, within: max(VAAPIDevice.openingLimit, frameLimit)) {
            case .opened(let sets): parameterSets = sets
            case .failed(let error): throw error
            case .frame, nil: throw .hardwareHung(device)
            }
        }

        func setProperties(_ properties: CompressionProperties) {
            rate.update(properties)
            control?.setRate(EncodingRate(properties))
        }

        func encode(_ picture: PixelBuffer, _ request: FrameRequest) throws(VideoCodingError) -> BackEndResult {
            let qp = request.qp ?? constantQP ?? control?.qp(isKeyframe: request.forceKeyframe)
            let response = thread.perform(
                .encode(picture, isIDR: request.forceKeyframe, rate: rate, qp: qp), within: frameLimit)
            switch response {
            case .frame(var frame, let sets):
                if let sets { parameterSets = sets }
                if let qp {
                    control?.made(
                        DataSize(bytes: frame.data.readableBytes), qp: qp, isKeyframe: frame.slice.type == .idr)
                }
                frame.serial = request.serial
                frame.decodeSerial = request.serial
                return .frame(frame)
            case .failed(let error): throw error
            case .opened, nil: throw .hardwareHung(device)
            }
        }

        func finish() -> BackEndFrame? { nil }

        /// The driver's rate control has counted the frame; what follows it is a keyframe, and made up for.
        func withdrawLastFrame() { control?.withdrawLastFrame() }

        func invalidateReferences(from serial: Int64) -> Bool { false }

        func acknowledge(_ reference: LongTermReference) {}

        // MARK: - On the thread

        private final class Worker {
            private let device: VAAPIDevice
            private let properties: CompressionProperties
            private let dimensions: VideoDimensions
            private var context: VAAPIEncodeContext?
            private var structure: ReferenceStructure
            private var inspector: SliceInspector?
            private var splitter = VAAPIStreamSplitter()
            private var memory = OutputMemory()
            /// The best QP, for pictures no better than asked for.
            private let leastQP: Int

            init(device: VAAPIDevice, properties: CompressionProperties, dimensions: VideoDimensions) {
                self.device = device
                self.properties = properties
                self.dimensions = dimensions
                structure = ReferenceStructure(layers: properties.temporalLayers)
                leastQP = properties.rateControlMode == .constrainedVariable ? properties.qualityQP : 0
            }

            func answer(_ request: Request) -> Response {
                do throws(VideoCodingError) {
                    switch request {
                    case .open: return .opened(parameterSets: try open())
                    case .encode(let picture, let isIDR, let rate, let qp):
                        // Behind a failure all begins anew: what the driver still holds of the picture is unknown.
                        let isFresh = context == nil
                        if isFresh { _ = try open() }
                        return try encode(picture, isIDR: isIDR || isFresh, rate: rate, qp: qp)
                    }
                } catch {
                    context = nil
                    return .failed(error)
                }
            }

            private func open() throws(VideoCodingError) -> [ByteBuffer] {
                let context = try VAAPIEncodeContext(
                    device, properties, dimensions: dimensions, structure: structure)
                self.context = context
                let sets = context.headers.parameterSets
                inspector = SliceInspector(parameterSets: sets)
                return sets
            }

            private func encode(
                _ picture: PixelBuffer, isIDR: Bool, rate: VAAPIRateParameters, qp: Int?
            ) throws(VideoCodingError) -> Response {
                guard let context else { throw .sessionInvalidated }
                let place = structure.next(isIDR: isIDR)
                let frame = VAAPIEncodeContext.Frame(picture: place, rate: rate, qp: qp, leastQP: leastQP)
                var sets: [ByteBuffer] = []
                var meanQP = 0
                var data = ByteBuffer()
                try context.encode(picture, frame) { stream, qp in
                    meanQP = qp
                    if data.readableBytes == 0 {
                        // Lengths take a byte more than the shortest start codes.
                        data = memory.makeBuffer(size: stream.count + 64) { splitter.split(stream, into: &$0) }
                    } else {
                        splitter.split(stream, into: &data)
                    }
                    sets += splitter.parameterSets
                }
                structure.add(place)
                if !sets.isEmpty {
                    if structure.layers > 2 { sets = sets.map(GapTolerantParameterSet.allowingGaps) }
                    inspector = SliceInspector(parameterSets: sets)
                }
                guard let slice = inspector?.inspect(data), (slice.type == .idr) == place.isIDR else {
                    throw .hardwareFailed(call: "vaMapBuffer", code: 0)
                }
                let made = BackEndFrame(
                    data: data, serial: 0, decodeSerial: 0, slice: slice, temporalLayer: place.layer,
                    averageQP: meanQP > 0 ? meanQP : slice.qp)
                return .frame(made, parameterSets: sets.isEmpty ? nil : sets)
            }
        }
    }
#endif

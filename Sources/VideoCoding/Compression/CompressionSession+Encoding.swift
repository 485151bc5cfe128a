import H264
import MediaCore
import NIOCore
import PixelTransfer
import Synchronization

extension CompressionSession {
    /// The state of the one call that encodes.
    struct EncodingState: ~Copyable {
        var encoder: (any EncoderBackEndSession)?
        let capacity: Int
        var ledger: FrameLedger
        var limiter = DataRateLimiter()
        /// Made for the first picture in a format that the back end does not read.
        var transfer: PixelTransferSession?
        /// The encoder's last settings.
        var properties = CompressionProperties()
        var generation = -1
        var format: VideoFormatDescription?
        var lastTime: MediaTime?
        var firstTime: MediaTime?
        /// The decode time of the last frame that came out.
        var lastDecodeTime: MediaTime?
        /// The last keyframe that came out or was asked for.
        var keyframeSerial: Int64 = 0
        var keyframeTime: MediaTime?
        /// `idr_pic_id` of the last frame that came out, if it is an IDR picture.
        var lastKeyframeID: Int?
        /// The next frame has to be a keyframe.
        var needsKeyframe = false
        var keyframeSizes = KeyframeSizeModel()
        var isInvalidated = false
        /// True between `beginPass` and `endPass`.
        var isInPass = false

        init(capacity: Int) {
            self.capacity = capacity
            ledger = FrameLedger(capacity: capacity)
        }
    }

    /// Prepares the encoder with the properties that are in force now.
    func prepare(_ state: inout EncodingState, isStarting: Bool) throws(VideoCodingError) {
        let (properties, generation) = control.withLock { control in
            if isStarting { control.hasStarted = true }
            return (control.inForce, control.generation)
        }
        if let encoder = state.encoder {
            guard generation != state.generation else { return }
            let isDynamic = !needsNewEncoder(state.properties, properties)
            if isDynamic {
                try encoder.setProperties(properties)
            } else {
                // Only before the first frame.
                state.encoder = nil
            }
        }
        state.properties = properties
        state.generation = generation
        state.limiter.setLimits(properties.dataRateLimits)
        guard state.encoder == nil else { return }
        do throws(VideoCodingError) {
            try makeEncoder(&state)
        } catch {
            // Without an encoder no frame is taken, so that the properties may change to some with which there is one.
            if state.ledger.nextSerial == 0 { control.withLock { $0.hasStarted = false } }
            throw error
        }
    }

    private func needsNewEncoder(_ old: CompressionProperties, _ new: CompressionProperties) -> Bool {
        let capabilities = EncoderCapabilities.of(backEnd).properties
        return CompressionProperty.allCases.contains { property in
            capabilities[property]?.isDynamic != true && new.differs(from: old, in: property)
        }
    }

    private func makeEncoder(_ state: inout EncodingState) throws(VideoCodingError) {
        let encoder: any EncoderBackEndSession
        switch backEnd {
        case .openH264: encoder = try OpenH264Encoder(properties: state.properties, dimensions: dimensions)
        case .x264:
            #if X264
                if let storage = state.properties.multiPassStorage {
                    guard state.isInPass else { throw .multiPass(.noPass) }
                    encoder = try MultiPassEncoder(
                        properties: state.properties, dimensions: dimensions, storage: storage)
                } else {
                    // A new encoder begins with 0, and two IDR pictures in a row must differ (H.264 7.4.3).
                    encoder = try X264Encoder(
                        properties: state.properties, dimensions: dimensions,
                        skipsKeyframeID: state.lastKeyframeID == 0)
                }
            #else
                throw .backEndNotBuilt(.x264)
            #endif
        case .vaapi:
            #if VAAPI
                guard let device else { throw .invalidConfiguration(reason: "VA-API needs a device") }
                encoder = try VAAPIEncoder(
                    device: device, frameLimit: deviceLimit, properties: state.properties, dimensions: dimensions)
            #else
                throw .backEndNotBuilt(.vaapi)
            #endif
        }
        state.encoder = encoder
        try updateFormat(&state, encoder)
    }

    private func updateFormat(
        _ state: inout EncodingState, _ encoder: any EncoderBackEndSession
    ) throws(VideoCodingError) {
        var sets = encoder.parameterSets
        if state.properties.profileLevel.profile == .baseline { sets = sets.map(\.withoutConstraintSet1) }
        guard sets != state.format?.parameterSets else { return }
        let format: VideoFormatDescription
        do {
            format = try VideoFormatDescription(h264ParameterSets: sets)
        } catch {
            throw .codecUnavailable(reason: "the encoder's parameter sets make no sense: \(error)")
        }
        state.format = format
        control.withLock { $0.format = format }
    }

    // MARK: - Frames

    /// Encodes a frame that was taken, and answers it unless it is held back.
    func run(
        _ state: inout EncodingState, _ picture: PixelBuffer, serial: Int64, time: MediaTime, _ options: EncodeOptions
    ) {
        guard let encoder = state.encoder else { return }
        if state.firstTime == nil { state.firstTime = time }
        var request = FrameRequest(
            serial: serial, presentationTime: time, regionsOfInterest: options.regionsOfInterest)
        let began = ContinuousClock.now
        do throws(VideoCodingError) {
            for reference in options.acknowledgedReferences { try encoder.acknowledge(reference) }
            if let lost = options.invalidateReferencesBackTo {
                try invalidateReferences(&state, encoder, backTo: lost)
            }
            request.duration = state.ledger[serial]?.duration
            request.forceKeyframe = options.forceKeyframe || state.needsKeyframe || isKeyframeDue(state, serial, time)
            let limit = byteLimit(state, encoder, at: time)
            if let limit, limit < leastFrame {
                state.needsKeyframe = state.needsKeyframe || request.forceKeyframe
                return drop(&state, serial, dropReason(state, limit))
            }
            if let limit, !encoder.isDelayed, request.forceKeyframe || state.keyframeTime == nil {
                request.qp = keyframeQP(state, limit) ?? options.expectedKeyframeQP
            }
            let result = try encode(&state, encoder, readable(&state, picture), &request, limit: limit)
            switch result {
            case .frame(let frame):
                try complete(
                    &state, encoder, frame, wasGivenQP: request.qp != nil, encodingTime: ContinuousClock.now - began)
            case .held: break
            case .skipped: drop(&state, serial, dropReason(state, limit))
            }
            if state.isInPass, let pass = encoder as? any PassEncoder {
                while let frame = try pass.nextReadyFrame() {
                    try complete(&state, encoder, frame, encodingTime: ContinuousClock.now - began)
                }
            }
            // The first frame is one, unasked; it may come out much later.
            if request.forceKeyframe || state.keyframeTime == nil {
                switch result {
                case .skipped: state.needsKeyframe = true
                case .frame, .held:
                    state.needsKeyframe = false
                    state.keyframeSerial = max(state.keyframeSerial, serial)
                    state.keyframeTime = time
                }
            }
        } catch {
            // The state of the decoder's references is uncertain.
            state.needsKeyframe = true
            if let entry = state.ledger.answer(serial) { answer(entry, .failed(error)) }
        }
    }

    /// The picture itself, or a copy in a format that the back end reads.
    private func readable(_ state: inout EncodingState, _ picture: PixelBuffer) throws(VideoCodingError) -> PixelBuffer
    {
        let formats = EncoderCapabilities.of(backEnd).pixelFormats
        guard !formats.contains(picture.format) else { return picture }
        let colour = state.properties.colour
        let transfer =
            state.transfer
            ?? PixelTransferSession(
                destination: PixelBufferAttributes(formats: formats), colour: colour == .unspecified ? nil : colour)
        state.transfer = transfer
        counts.withLock { $0.pixelTransfers += 1 }
        do throws(PixelTransferError) {
            return try transfer.transfer(picture)
        } catch {
            throw .pixelFormatNotSupported(picture.format)
        }
    }

    /// Encodes a picture, repeatedly and coarser while it exceeds its limit.
    private func encode(
        _ state: inout EncodingState, _ encoder: any EncoderBackEndSession, _ picture: PixelBuffer,
        _ request: inout FrameRequest, limit: Int?
    ) throws(VideoCodingError) -> BackEndResult {
        var result = try encoder.encode(picture, request)
        guard let limit, !encoder.isDelayed else { return result }
        var coarsestTried: Int?
        while case .frame(let frame) = result, frame.data.readableBytes > limit {
            encoder.withdrawLastFrame()
            counts.withLock { $0.framesRepeated += 1 }
            // Each try is coarser than the one before.
            let tried = KeyframeSizeModel.Keyframe(frame)
            let isKeyframe = frame.slice.type == .idr
            let isCoarser = !isKeyframe || tried.qp > coarsestTried ?? -1
            if isKeyframe {
                state.keyframeSizes.add(tried)
                coarsestTried = tried.qp
            }
            guard tried.qp < encoder.coarsestKeyframeQP, isCoarser else {
                state.needsKeyframe = true
                state.keyframeSizes.isLimited = true
                return .skipped
            }
            request.forceKeyframe = true
            request.qp = max(state.keyframeSizes.qp(for: limit, at: tried), tried.qp + 1)
            result = try encoder.encode(picture, request)
            if case .frame(let repeated) = result, repeated.slice.type != .idr { return .skipped }
        }
        return result
    }

    /// Returns the QP of a keyframe that is probably as large as allowed; nil if the encoder's own choice may fit.
    ///
    /// If the last keyframe had to be coarser than the encoder's choice, this one probably has to be, too: then one try
    /// suffices instead of several.
    private func keyframeQP(_ state: borrowing EncodingState, _ limit: Int) -> Int? {
        state.keyframeSizes.isLimited ? state.keyframeSizes.coarserQP(for: limit) : nil
    }

    /// Hands on a frame that came out.
    private func complete(
        _ state: inout EncodingState, _ encoder: any EncoderBackEndSession, _ frame: BackEndFrame,
        wasGivenQP: Bool = false, encodingTime: Duration
    ) throws(VideoCodingError) {
        let isKeyframe = frame.slice.type == .idr
        if isKeyframe {
            try updateFormat(&state, encoder)
        } else if frame.temporalLayer == 0 {
            state.keyframeSizes.observeUsual(qp: frame.slice.qp)
        }
        guard let entry = state.ledger.answer(frame.serial), let format = state.format else { return }
        state.lastKeyframeID = frame.slice.keyframeID
        if isKeyframe {
            state.keyframeSizes.add(KeyframeSizeModel.Keyframe(frame))
            state.keyframeSizes.isLimited = wasGivenQP
            if frame.serial >= state.keyframeSerial {
                state.keyframeSerial = frame.serial
                state.keyframeTime = entry.presentationTime
            }
        }
        state.limiter.spend(frame.data.readableBytes, at: entry.presentationTime)
        var statistics = EncodeStatistics(
            type: frame.slice.type, size: DataSize(bytes: frame.data.readableBytes),
            temporalLayer: frame.temporalLayer, isReference: frame.slice.isReference)
        statistics.averageQP = frame.averageQP
        statistics.encodingTime = encodingTime
        statistics.referenceCount = frame.slice.referenceCount
        statistics.usesLongTermReference = frame.slice.usesLongTermReference
        let sample = SampleBuffer(
            data: BlockBuffer(frame.data), format: format, presentationTime: entry.presentationTime,
            decodeTime: encoder.isDelayed ? takeDecodeTime(&state, of: frame) : nil, duration: entry.duration,
            isSync: isKeyframe,
            dependency: FrameDependency(
                isDependedOn: frame.slice.isReference, temporalLayer: frame.temporalLayer))
        count(statistics, isKeyframe: isKeyframe, state.properties)
        answer(
            entry,
            .frame(
                EncodedFrame(
                    sample: sample, statistics: statistics, longTermReference: frame.longTermReference)))
    }

    private func count(_ statistics: EncodeStatistics, isKeyframe: Bool, _ properties: CompressionProperties) {
        counts.withLock { counts in
            counts.framesEncoded += 1
            counts.encodedSize += statistics.size
            if isKeyframe {
                counts.keyframes += 1
            } else {
                counts.largestDeltaFrame = max(counts.largestDeltaFrame, statistics.size)
            }
            if properties.averageBitRate.duration(for: statistics.size) > properties.latencyBudget {
                counts.framesOverBudget += 1
            }
        }
    }

    private func drop(_ state: inout EncodingState, _ serial: Int64, _ reason: EncodeDropReason) {
        if let entry = state.ledger.answer(serial) { answer(entry, .dropped(reason)) }
    }

    // MARK: - Keyframes and limits

    private func isKeyframeDue(_ state: borrowing EncodingState, _ serial: Int64, _ time: MediaTime) -> Bool {
        // A pass places its own.
        guard !state.isInPass, let last = state.keyframeTime else { return false }
        if let interval = state.properties.maxKeyframeInterval, serial - state.keyframeSerial >= Int64(interval) {
            return true
        }
        guard let duration = state.properties.maxKeyframeIntervalDuration else { return false }
        return time - last >= MediaTime(duration, timescale: 1_000_000)
    }

    private func invalidateReferences(
        _ state: inout EncodingState, _ encoder: any EncoderBackEndSession, backTo time: MediaTime
    ) throws(VideoCodingError) {
        let serial = state.ledger.firstFrame(from: time)
        // The frame at hand is the last one of the ledger.
        guard serial < state.ledger.nextSerial - 1 else { return }
        guard serial > state.keyframeSerial, serial > state.ledger.firstSerial,
            try encoder.invalidateReferences(from: serial)
        else {
            state.needsKeyframe = true
            return
        }
    }

    /// The most bytes of a frame at `time`; nil for any.
    private func byteLimit(
        _ state: borrowing EncodingState, _ encoder: any EncoderBackEndSession, at time: MediaTime
    ) -> Int? {
        // A frame that comes out later cannot be left out any more; its encoder's buffer keeps the limits.
        guard !encoder.isDelayed else { return nil }
        let allowance = state.limiter.allowance(at: time)
        guard let maximum = state.properties.maxFrameBytes?.bytes else { return allowance }
        return min(maximum, allowance ?? .max)
    }

    /// Frames of less are not worth beginning: about a bit a macroblock and the headers.
    private var leastFrame: Int { 32 + dimensions.width * dimensions.height / 256 / 8 }

    /// Returns the reason for which a frame with no more room than `limit` was left out.
    private func dropReason(_ state: borrowing EncodingState, _ limit: Int?) -> EncodeDropReason {
        // Less room than every frame may take is what a data rate limit has left.
        guard let limit, limit == state.properties.maxFrameBytes?.bytes else { return .rateControl }
        return .tooLarge
    }

    // MARK: - Draining

    /// Has all frames come out that are held back. An encoder that was drained makes no more, so it goes.
    func drain(_ state: inout EncodingState) {
        guard let encoder = state.encoder, encoder.isDelayed else { return }
        do throws(VideoCodingError) {
            var began = ContinuousClock.now
            while let frame = try encoder.finish() {
                let now = ContinuousClock.now
                try complete(&state, encoder, frame, encodingTime: now - began)
                began = now
            }
        } catch {
            while let entry = state.ledger.answerOldest() { answer(entry, .failed(error)) }
        }
        // A pass continues with its frames.
        guard !state.isInPass else { return }
        while let entry = state.ledger.answerOldest() { answer(entry, .dropped(.rateControl)) }
        state.encoder = nil
        state.generation = -1
    }
}

extension ByteBuffer {
    /// An SPS without `constraint_set1_flag` (H.264 7.4.2.1.1); other units unchanged.
    fileprivate var withoutConstraintSet1: ByteBuffer {
        guard let header: UInt8 = getInteger(at: readerIndex), header & 0x1F == 7,
            let flags: UInt8 = getInteger(at: readerIndex + 2)
        else { return self }
        var changed = self
        changed.setInteger(flags & ~0x40, at: readerIndex + 2)
        return changed
    }
}

extension KeyframeSizeModel.Keyframe {
    fileprivate init(_ frame: BackEndFrame) {
        self.init(
            bytes: frame.data.readableBytes, qp: frame.averageQP ?? frame.slice.qp ?? 30, serial: frame.serial)
    }
}

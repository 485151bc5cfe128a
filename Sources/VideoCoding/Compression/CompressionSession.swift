public import MediaCore
import Synchronization

/// Encodes one H.264 stream: it takes pictures in presentation order and gives frames in decoding order.
///
/// Each frame that `encode` takes is answered exactly once, through the output handler: with a frame, a drop or a
/// failure. Without reordering (`realTime`, the default), this has happened when `encode` returns.
///
///     let session = try CompressionSession(
///         dimensions: VideoDimensions(width: 1280, height: 720),
///         properties: CompressionProperties(averageBitRate: .megabits(1.5))
///     ) { output in
///         if let frame = output.frame { send(frame.sample) }
///     }
///     try session.encode(picture, presentationTime: time)
///     session.completeFrames()
///
/// Frames should come from one serial queue; other calls wait for the one that runs. Properties may be set from
/// anywhere at any time without waiting. The output handler is called on the thread that encodes, one output at a time.
/// It may read the session and set its properties. It must not call `encode`, `completeFrames`, `invalidate`,
/// `prepareToEncodeFrames`, `beginPass` or `endPass`, which would wait for the handler itself.
public final class CompressionSession: Sendable {
    public let dimensions: VideoDimensions
    public let backEnd: EncoderBackEnd
    /// The device of `EncoderBackEnd.vaapi`.
    public let device: VAAPIDevice?
    /// The longest that a frame may take before the device counts as hung.
    let deviceLimit: Duration
    /// Requirements that every picture satisfies. Formats that the back end does not read are converted first.
    public let sourceAttributes: PixelBufferAttributes

    let control: Mutex<Control>
    let counts = Mutex(CompressionStatistics())
    let encoding: Mutex<EncodingState>
    private let outputHandler: @Sendable (EncodeOutput) -> Void

    /// Makes a session. The encoder itself is made by the first frame, or by `prepareToEncodeFrames`.
    ///
    /// - Parameters:
    ///   - dimensions: The size of all pictures, even in both directions.
    ///   - device: The device that encodes; for `EncoderBackEnd.vaapi` alone, which needs one.
    ///   - sourceAttributes: The properties of the pictures, if known; others are then refused.
    ///   - outputHandler: Called with the answer to each frame.
    /// - Throws: An error if the back end does not support the properties, or pictures like these.
    public convenience init(
        dimensions: VideoDimensions, backEnd: EncoderBackEnd = .openH264, device: VAAPIDevice? = nil,
        properties: CompressionProperties, sourceAttributes: PixelBufferAttributes = .any,
        outputHandler: @escaping @Sendable (EncodeOutput) -> Void
    ) throws(VideoCodingError) {
        try self.init(
            dimensions: dimensions, backEnd: backEnd, device: device, deviceLimit: VAAPIDevice.frameLimit,
            properties: properties, sourceAttributes: sourceAttributes, outputHandler: outputHandler)
    }

    /// Makes a session with another limit of the device.
    package init(
        dimensions: VideoDimensions, backEnd: EncoderBackEnd, device: VAAPIDevice?, deviceLimit: Duration,
        properties: CompressionProperties, sourceAttributes: PixelBufferAttributes = .any,
        outputHandler: @escaping @Sendable (EncodeOutput) -> Void
    ) throws(VideoCodingError) {
        guard backEnd.isBuilt else { throw .backEndNotBuilt(backEnd) }
        guard (backEnd == .vaapi) == (device != nil) else {
            throw .invalidConfiguration(
                reason: device == nil ? "VA-API needs a device" : "\(backEnd.rawValue) has no use for a device")
        }
        let inForce = try properties.resolved(for: dimensions, by: backEnd)
        if let expected = sourceAttributes.dimensions, expected != dimensions {
            throw .dimensionsMismatch(picture: expected, session: dimensions)
        }
        self.dimensions = dimensions
        self.backEnd = backEnd
        self.device = device
        self.deviceLimit = deviceLimit
        self.sourceAttributes = sourceAttributes
        self.outputHandler = outputHandler
        control = Mutex(Control(requested: properties, inForce: inForce))
        encoding = Mutex(EncodingState(capacity: inForce.realTime ? 128 : 1024))
    }

    deinit {
        encoding.withLock { end(&$0) }
    }

    /// Counters of frames so far.
    public var statistics: CompressionStatistics { counts.withLock { $0 } }

    /// The format of the stream: size, profile, SPS and PPS; nil before the encoder was made. It stays the same from
    /// keyframe to keyframe.
    public var format: VideoFormatDescription? { control.withLock { $0.format } }

    /// The options of single frames that the back end knows.
    public var supportedOptions: Set<EncodeOption> { EncoderCapabilities.of(backEnd).frameOptions }

    /// Returns whether the session can continue with pictures of another size, or the reason why not.
    public func canAccept(_ dimensions: VideoDimensions) -> Acceptance {
        if dimensions == self.dimensions { return .accept }
        do throws(VideoCodingError) {
            _ = try control.withLock { $0.requested }.resolved(for: dimensions, by: backEnd)
        } catch {
            return .reject(reason: "\(error)")
        }
        return .recreate(reason: "the picture changes from \(self.dimensions) to \(dimensions)")
    }

    /// Makes the encoder, so that the first frame need not wait for it.
    public func prepareToEncodeFrames() throws(VideoCodingError) {
        try encoding.withLock { state throws(VideoCodingError) in
            guard !state.isInvalidated else { throw .sessionInvalidated }
            try prepare(&state, isStarting: false)
        }
    }

    /// Takes the next frame. Its picture is read in place, and not kept after the call.
    ///
    /// - Parameters:
    ///   - picture: A picture of the session's size.
    ///   - presentationTime: The presentation time, later than that of all frames before.
    ///   - duration: The duration of the presentation, which the output repeats.
    ///   - token: A value that the output repeats.
    /// - Throws: An error if the frame is not taken. Then there is no output, and the session continues.
    public func encode(
        _ picture: PixelBuffer, presentationTime: MediaTime, duration: MediaTime? = nil,
        options: EncodeOptions = EncodeOptions(), token: FrameToken = FrameToken()
    ) throws(VideoCodingError) {
        try check(picture)
        try check(options)
        try encoding.withLock { state throws(VideoCodingError) in
            guard !state.isInvalidated else { throw .sessionInvalidated }
            guard presentationTime.isNumeric else { throw .timeNotIncreasing(presentationTime, previous: nil) }
            if let last = state.lastTime, presentationTime <= last {
                throw .timeNotIncreasing(presentationTime, previous: last)
            }
            try prepare(&state, isStarting: true)
            if state.isInPass { try (state.encoder as? any PassEncoder)?.check(presentationTime) }
            let serial = state.ledger.push(presentationTime: presentationTime, duration: duration, token: token)
            state.lastTime = presentationTime
            run(&state, picture, serial: serial, time: presentationTime, options)
            // More than any encoder holds back: the oldest has been lost.
            while state.ledger.pendingCount > state.capacity / 2, let entry = state.ledger.answerOldest() {
                answer(entry, .dropped(.rateControl))
            }
        }
    }

    /// Waits until all frames with a presentation time of at most `time` have come out. Others may come out as well.
    /// Encoding continues, with a keyframe if frames were delayed.
    public func completeFrames(until time: MediaTime = .positiveInfinity) {
        encoding.withLock { state in
            guard state.ledger.isPending(until: time) else { return }
            drain(&state)
        }
    }

    /// Ends the session. Frames that have not come out are answered as dropped.
    public func invalidate() {
        encoding.withLock { end(&$0) }
    }

    private func end(_ state: inout EncodingState) {
        state.isInvalidated = true
        state.encoder = nil
        while let entry = state.ledger.answerOldest() { answer(entry, .dropped(.sessionEnded)) }
    }

    // MARK: - Checks

    private func check(_ picture: PixelBuffer) throws(VideoCodingError) {
        guard picture.dimensions == dimensions else {
            throw .dimensionsMismatch(picture: picture.dimensions, session: dimensions)
        }
        guard sourceAttributes.isSatisfied(by: picture) else { throw .pixelFormatNotSupported(picture.format) }
    }

    private func check(_ options: EncodeOptions) throws(VideoCodingError) {
        guard !options.regionsOfInterest.isEmpty || !options.acknowledgedReferences.isEmpty else { return }
        let supported = EncoderCapabilities.of(backEnd).frameOptions
        if !options.regionsOfInterest.isEmpty, !supported.contains(.regionsOfInterest) {
            throw .optionNotSupported(.regionsOfInterest, backEnd)
        }
        if !options.acknowledgedReferences.isEmpty, !supported.contains(.acknowledgeReferences) {
            throw .optionNotSupported(.acknowledgeReferences, backEnd)
        }
    }

    // MARK: - Answers

    func answer(_ entry: FrameLedger.Entry, _ result: EncodeResult) {
        counts.withLock { counts in
            switch result {
            case .frame: break
            case .dropped: counts.framesDropped += 1
            case .failed: counts.framesFailed += 1
            }
        }
        outputHandler(EncodeOutput(presentationTime: entry.presentationTime, token: entry.token, result: result))
    }
}

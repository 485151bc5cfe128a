public import MediaCore

/// Decodes a stream whose format may change: it uses one session after another and gives one ordered stream of events.
///
/// When the current session cannot accept a new format, its delayed pictures come out, a new session is made, and
/// decoding continues. Each frame is answered exactly once, in the call that pushes it unless the stream reorders
/// frames. A pipeline belongs to one serial queue.
///
/// A device decodes only frames that refer to no lost one: damaged streams hang some. After its first fault the stream
/// goes on in software, from its next keyframe, for good.
public final class DecodingPipeline {
    private let counters = DecodingCounters()
    private let software: DecoderSequence
    #if VAAPI
        private var hardware: VAAPIDecoder?
    #endif
    private var progress: DeviceProgress
    /// The reason for which the device decodes no longer.
    public private(set) var deviceFault: VideoCodingError?

    /// The decoding effort for the next frames.
    public var effort: DecodingEffort {
        get { software.effort }
        set { software.effort = newValue }
    }

    private enum DeviceProgress: Equatable {
        /// Software decodes while the device opens.
        case opening
        /// The device is open, and software decodes up to the next keyframe.
        case waiting(isTold: Bool)
        /// The device decodes the next frame.
        case decoding
    }

    /// Makes a pipeline; its decoder is made when the first frame comes.
    ///
    /// - Parameters:
    ///   - attributes: The requirements for pictures in every format.
    ///   - limits: The limits beyond which a stream is refused, before any memory is allocated.
    ///   - reordering: The number of frames that are delayed to sort pictures.
    ///   - device: Decodes in place of the processor, until its first fault; nil: none.
    ///   - findsGaps: Looks for references that the stream lacks: see `takeLackOfReference`.
    ///   - opensAside: Software decodes while the device opens, up to the next keyframe, so that nothing waits for it;
    ///     false: the first frame waits.
    ///   - surfaceCopies: Pictures stay in the device's memory, and this counts those that somebody has copied after
    ///     all, as he looked at them; nil: all are copied at once.
    public convenience init(
        attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
        reordering: PictureReordering = .signalled, findsGaps: Bool = false, device: VAAPIDevice? = nil,
        opensAside: Bool = false, surfaceCopies: SurfaceCopyCounter? = nil
    ) {
        self.init(
            attributes: attributes, limits: limits, reordering: reordering, findsGaps: findsGaps, device: device,
            opensAside: opensAside, surfaceCopies: surfaceCopies, deviceLimit: VAAPIDevice.frameLimit)
    }

    /// - Parameter deviceLimit: The longest that a frame may take before its device counts as hung.
    init(
        attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
        reordering: PictureReordering = .signalled, findsGaps: Bool = false, device: VAAPIDevice?,
        opensAside: Bool = false, surfaceCopies: SurfaceCopyCounter? = nil, deviceLimit: Duration
    ) {
        software = DecoderSequence(
            attributes: attributes, limits: limits, reordering: reordering, counters: counters, findsGaps: findsGaps)
        progress = opensAside ? .opening : .decoding
        #if VAAPI
            do throws(VideoCodingError) {
                hardware = try device.map { device throws(VideoCodingError) in
                    try VAAPIDecoder(
                        DecodingDevice(device, counter: surfaceCopies, frameLimit: deviceLimit),
                        attributes: attributes, limits: limits, reordering: reordering, counters: counters,
                        frameLimit: deviceLimit)
                }
            } catch {
                deviceFault = error
            }
        #else
            if device != nil { deviceFault = .hardwareUnavailable(reason: "the program was built without VA-API") }
        #endif
    }

    /// Decodes the next frame of the stream.
    ///
    /// - Parameters:
    ///   - sample: A frame in decoding order. Its format's parameter sets hold; any within its data do not.
    ///   - token: Comes back with the output.
    ///   - body: Called with outputs of this frame and of earlier ones, pictures in presentation order, and before the
    ///     first output of each new format with that.
    public func decode(
        _ sample: SampleBuffer, token: FrameToken = FrameToken(), _ body: (DecodingEvent) -> Void
    ) {
        #if VAAPI
            if progress != .decoding { openDevice(with: sample, body) }
            if let hardware, progress == .decoding {
                deviceFault = hardware.decode(sample, token: token, effort: effort, body)
                guard deviceFault != nil else { return }
                self.hardware = nil
            }
        #endif
        software.decode(sample, token: token, body)
    }

    #if VAAPI
        private func openDevice(with sample: SampleBuffer, _ body: (DecodingEvent) -> Void) {
            switch progress == .opening ? hardware?.open(with: sample) : .done {
            case .going, nil: break
            case .done:
                if sample.isSync {
                    software.finish(body)
                    progress = .decoding
                } else if progress == .opening {
                    progress = .waiting(isTold: false)
                }
            case .failed(let error):
                deviceFault = error
                hardware = nil
            }
        }
    #endif

    /// Returns true once, when the device is open and decodes from the next keyframe on.
    public func takeKeyframeWish() -> Bool {
        guard progress == .waiting(isTold: false) else { return false }
        progress = .waiting(isTold: true)
        return true
    }

    /// Returns true once after the first frame since a keyframe that refers to a frame which software was not given, as
    /// its numbers tell: its picture, and those after it, are guessed. A sender has left the frame out.
    public func takeLackOfReference() -> Bool { software.takeLackOfReference() }

    /// Gives out the pictures held back for reordering, and answers all frames that were not. A keyframe may follow.
    public func finishDelayedFrames(_ body: (DecodingEvent) -> Void) {
        #if VAAPI
            if let hardware, progress == .decoding {
                deviceFault = hardware.finish(body)
                guard deviceFault != nil else { return }
                self.hardware = nil
            }
        #endif
        software.finish(body)
    }

    /// True while a device decodes.
    public var usesDevice: Bool {
        #if VAAPI
            hardware != nil && progress == .decoding
        #else
            false
        #endif
    }

    /// Counters of answers so far, over all formats.
    public var statistics: DecodingStatistics { counters.statistics }
}

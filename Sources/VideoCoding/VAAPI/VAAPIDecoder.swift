#if VAAPI
    import MediaCore

    /// A decoder of a GPU, through VA-API, for one stream.
    ///
    /// All of libva's calls are made on a thread of the decoder's own. One that does not return within the limit is
    /// left there. The first fault is the last: its owner goes on in software.
    final class VAAPIDecoder {
        private enum Request: Sendable {
            case open(SampleBuffer)
            case decode(SampleBuffer, FrameToken, DecodingEffort)
            case finish
        }

        private let device: VAAPIDevice
        private let thread: AbandonableThread<Request, [DecodingEvent]>
        private let counters: DecodingCounters
        /// Frames that the device has not answered yet, the oldest first.
        private var owed: [(token: FrameToken, time: MediaTime)] = []
        /// The format of the last frame. For another one a driver may be loaded anew.
        private var format: VideoFormatDescription?
        /// Frames in a row that were not given to the device, for want of a keyframe.
        private var waiting = 0

        /// The start of the opening, for which nobody waits; nil: it has not begun.
        private var openingStart: ContinuousClock.Instant?

        /// The progress of the opening.
        enum Opening {
            case going, done
            case failed(VideoCodingError)
        }

        /// More are no loss, but a stream that goes on without keyframes: software shows of it what it can.
        private static let patience = 60

        /// The longest that a frame may take before its device counts as hung.
        private let frameLimit: Duration

        init(
            _ device: DecodingDevice, attributes: PixelBufferAttributes, limits: DecodingLimits,
            reordering: PictureReordering, counters: DecodingCounters, frameLimit: Duration
        ) throws(VideoCodingError) {
            self.device = device.device
            self.frameLimit = frameLimit
            self.counters = counters
            thread = try AbandonableThread.start {
                let decoder = DecoderSequence(
                    attributes: attributes, limits: limits, reordering: reordering, counters: counters,
                    device: device)
                return { request in
                    var events: [DecodingEvent] = []
                    switch request {
                    case .open(let sample):
                        decoder.decode(sample, token: FrameToken()) { events.append($0) }
                        decoder.finish { events.append($0) }
                    case .decode(let sample, let token, let effort):
                        decoder.effort = effort
                        decoder.decode(sample, token: token) { events.append($0) }
                    case .finish: decoder.finish { events.append($0) }
                    }
                    return events
                }
            }
        }

        /// Opens the device with the stream's first keyframe, whose picture nobody gets. The caller does not wait, and
        /// goes on in software: the first picture is not to wait for a driver, which may take a second.
        func open(with sample: SampleBuffer) -> Opening {
            guard let openingStart else {
                guard sample.isSync else { return .going }
                guard thread.begin(.open(sample)) else { return .failed(.hardwareHung(device)) }
                self.openingStart = .now
                format = sample.format
                return .going
            }
            guard let events = thread.poll() else {
                return ContinuousClock.now - openingStart < max(VAAPIDevice.asideLimit, frameLimit)
                    ? .going : .failed(.hardwareHung(device))
            }
            for case .output(let output) in events {
                // Software has answered the frame.
                counters.discount(output.result)
                if case .failed(let error) = output.result, !error.isOfStream { return .failed(error) }
            }
            return .done
        }

        /// Decodes the next frame. Returns the device's fault, after which this frame is not answered and nothing is
        /// decoded here any more.
        func decode(
            _ sample: SampleBuffer, token: FrameToken, effort: DecodingEffort, _ body: (DecodingEvent) -> Void
        ) -> VideoCodingError? {
            guard waiting <= Self.patience else {
                return fail(.hardwareUnavailable(reason: "the stream goes on without a keyframe"), nil, body)
            }
            owed.append((token, sample.presentationTime))
            let limit = format == sample.format ? frameLimit : max(VAAPIDevice.openingLimit, frameLimit)
            format = sample.format
            return take(.decode(sample, token, effort), of: token, within: limit, body)
        }

        /// Gives out pictures that were held back. Returns the device's fault.
        func finish(_ body: (DecodingEvent) -> Void) -> VideoCodingError? {
            take(.finish, of: nil, within: frameLimit, body)
        }

        private func take(
            _ request: Request, of present: FrameToken?, within limit: Duration, _ body: (DecodingEvent) -> Void
        ) -> VideoCodingError? {
            guard let events = thread.perform(request, within: limit) else {
                return fail(.hardwareHung(device), present, body)
            }
            for event in events {
                if case .output(let output) = event {
                    // A stream that no decoder takes is no fault of the device.
                    if case .failed(let error) = output.result, !error.isOfStream {
                        return fail(error, present, body)
                    }
                    // A sender may give several frames one time.
                    let answered = owed.firstIndex { $0.token == output.token && $0.time == output.presentationTime }
                    if let answered { owed.remove(at: answered) }
                    if case .dropped(.awaitingKeyframe) = output.result { waiting += 1 } else { waiting = 0 }
                }
                body(event)
            }
            return nil
        }

        /// Answers all frames but the present one, which software decodes.
        private func fail(
            _ error: VideoCodingError, _ present: FrameToken?, _ body: (DecodingEvent) -> Void
        ) -> VideoCodingError {
            if present != nil { owed.removeLast() }
            for frame in owed {
                counters.count(.dropped(.noPicture))
                body(
                    .output(
                        DecodeOutput(presentationTime: frame.time, token: frame.token, result: .dropped(.noPicture))))
            }
            owed = []
            return error
        }
    }

    extension VideoCodingError {
        /// True if the sample or its format is at fault.
        fileprivate var isOfStream: Bool {
            switch self {
            case .unsupportedFormat, .malformedSample: true
            default: false
            }
        }
    }
#endif

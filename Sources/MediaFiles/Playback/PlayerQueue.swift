import MediaCore
import NIOCore
import VideoCoding

/// A player's waiting samples and pictures, and the rules by which they leave.
struct PlayerQueue {
    private let configuration: SampleBufferPlayer.Configuration
    private var samples = CircularBuffer<SampleBuffer>()
    private var pictures = CircularBuffer<DecodedPicture>()
    private var errors = CircularBuffer<VideoCodingError>()
    private var statistics = SampleBufferPlayerStatistics()

    /// The number of flushes: work that began before one is discarded.
    private var generation = 0
    private var request: (@Sendable () -> Void)?
    /// True if something was enqueued since media data was requested.
    private var mayAsk = false
    private var isDecoderAwake = false
    private var isAwaitingSync = false
    /// The target of a seek, until its picture is found.
    private var preroll: MediaTime?
    private var endState = EndState.open

    private var lastPictureTime: MediaTime?
    /// The interval between the last two pictures.
    private var pictureInterval: MediaTime?
    /// The duration of the newest sample, if it has one.
    private var sampleDuration: MediaTime?

    private enum EndState {
        case open
        /// No sample follows; this has been stated.
        case said
        /// No picture follows.
        case drained
        /// The end has been reported.
        case told
    }

    init(_ configuration: SampleBufferPlayer.Configuration) {
        self.configuration = configuration
    }

    var currentStatistics: SampleBufferPlayerStatistics {
        var statistics = statistics
        statistics.waitingSamples = samples.count
        statistics.waitingPictures = pictures.count
        return statistics
    }

    // MARK: Giving samples

    var isReady: Bool { samples.count < configuration.readySampleCount && endState == .open }

    mutating func enqueue(_ sample: SampleBuffer) -> Bool {
        if samples.count >= configuration.maximumSampleCount { isAwaitingSync = true }
        guard endState == .open, samples.count < configuration.maximumSampleCount, !isAwaitingSync || sample.isSync
        else {
            statistics.refused += 1
            return false
        }
        isAwaitingSync = false
        mayAsk = true
        samples.append(sample)
        statistics.enqueued += 1
        return true
    }

    mutating func startRequesting(_ request: @escaping @Sendable () -> Void) {
        self.request = request
        mayAsk = true
    }

    mutating func stopRequesting() {
        request = nil
    }

    mutating func endOfMedia() {
        if endState == .open { endState = .said }
    }

    mutating func flush(showingFrom time: MediaTime?) {
        generation += 1
        samples.removeAll(keepingCapacity: true)
        pictures.removeAll(keepingCapacity: true)
        errors.removeAll(keepingCapacity: true)
        isAwaitingSync = false
        mayAsk = true
        preroll = time.flatMap { $0.isNumeric ? $0 : nil }
        endState = .open
        lastPictureTime = nil
        pictureInterval = nil
        sampleDuration = nil
    }

    // MARK: Decoding

    /// The decoder's next step.
    enum DecodingStep {
        case ask(@Sendable () -> Void)
        case decode(SampleBuffer, generation: Int)
        case finish(generation: Int)
        case sleep
    }

    /// Returns true if the decoder has to be woken; after that it stays awake until it may sleep.
    mutating func wakeDecoder() -> Bool {
        defer { isDecoderAwake = true }
        return !isDecoderAwake
    }

    mutating func nextDecodingStep(now: MediaTime) -> DecodingStep {
        // Asked for in batches, before the last sample is gone.
        if endState == .open, mayAsk, samples.count <= configuration.readySampleCount / 2, let request {
            mayAsk = false
            return .ask(request)
        }
        if pictures.count < configuration.pictureCount {
            while let sample = samples.popFirst() {
                if isTooLate(sample, now: now) {
                    statistics.skipped += 1
                    continue
                }
                if let duration = sample.duration, duration.isNumeric, sample.presentationTime.isNumeric {
                    sampleDuration = duration
                }
                return .decode(sample, generation: generation)
            }
            if endState == .said { return .finish(generation: generation) }
        }
        isDecoderAwake = false
        return .sleep
    }

    /// Returns true if a sample would not be seen and no other needs it.
    private func isTooLate(_ sample: SampleBuffer, now: MediaTime) -> Bool {
        guard sample.dependency.isDependedOn == false, let duration = sample.duration, duration.isNumeric,
            sample.presentationTime.isNumeric
        else { return false }
        let end = sample.presentationTime + duration
        if let preroll { return end <= preroll }
        return now.isNumeric && end <= now
    }

    /// Takes the decoder's results; none of them if there was a flush meanwhile.
    mutating func take(_ results: borrowing PlayerDecoder.Results, generation: Int, isLast: Bool = false) {
        guard generation == self.generation else { return }
        for var picture in results.pictures {
            if !picture.presentationTime.isNumeric {
                picture.presentationTime = lastPictureTime.map { $0 + configuration.untimedPictureDuration } ?? .zero
                pictureInterval = configuration.untimedPictureDuration
            } else if let lastPictureTime, picture.presentationTime > lastPictureTime {
                pictureInterval = picture.presentationTime - lastPictureTime
            }
            lastPictureTime = picture.presentationTime
            if picture.isConcealed { statistics.concealed += 1 }
            pictures.append(picture)
        }
        errors.append(contentsOf: results.errors)
        statistics.decoded += results.pictures.count + results.hidden
        statistics.failed += results.errors.count
        statistics.dropped += results.dropped
        if isLast, endState == .said { endState = .drained }
    }

    // MARK: Showing

    /// The player's next picture.
    enum PresentationStep {
        case tell(SampleBufferPlayer.Event)
        /// There is nothing to do before this time.
        case wait(MediaTime)
        /// There is nothing to do before something is decoded.
        case sleep
    }

    mutating func nextPresentationStep(now: MediaTime, isRunningBackward: Bool) -> PresentationStep {
        if let error = errors.popFirst() { return .tell(.failed(error)) }
        if let preroll {
            while pictures.count > 1, pictures[offset: 1].presentationTime <= preroll {
                pictures.removeFirst()
                statistics.prerolled += 1
            }
            // The picture that is seen there is known when the one after it is.
            guard
                endState == .drained || pictures.count > 1
                    || pictures.first.map({ $0.presentationTime > preroll }) == true
            else { return .sleep }
            self.preroll = nil
        }
        guard let first = pictures.first else {
            guard endState == .drained else { return .sleep }
            let end = lastPictureTime.map { $0 + (sampleDuration ?? pictureInterval ?? .zero) }
            if let end, !Self.isDue(end, now: now, isRunningBackward: isRunningBackward) { return .wait(end) }
            endState = .told
            return .tell(.ended)
        }
        guard Self.isDue(first.presentationTime, now: now, isRunningBackward: isRunningBackward) else {
            return .wait(first.presentationTime)
        }
        while pictures.count > 1, pictures[offset: 1].presentationTime <= now {
            pictures.removeFirst()
            statistics.late += 1
        }
        let picture = pictures.removeFirst()
        statistics.shown += 1
        statistics.largestLateness = max(statistics.largestLateness, (now - picture.presentationTime).duration)
        return .tell(.picture(picture))
    }

    private static func isDue(_ time: MediaTime, now: MediaTime, isRunningBackward: Bool) -> Bool {
        !isRunningBackward && now.isValid && !now.isIndefinite && time <= now
    }
}

extension CircularBuffer {
    /// The element `offset` places behind the first.
    fileprivate subscript(offset offset: Int) -> Element { self[index(startIndex, offsetBy: offset)] }
}

public import MediaCore
import Synchronization
public import VideoCoding

/// Shows the pictures of an H.264 stream at their times on a timebase. Its user sets the timebase's time to seek, and
/// its rate to play, to pause (0), or to play faster or slower. While it runs backward nothing is shown.
///
/// A periodic source, such as a network, enqueues samples as they come. An unconstrained one, such as a file, is asked:
/// it calls `requestMediaData` once, and enqueues samples while `isReadyForMoreMediaData` at each request. So a file of
/// any length takes the memory of a few samples and pictures.
///
/// Samples are decoded a few pictures ahead. A picture is shown when the timebase reaches its time; if the next one is
/// due as well, it is late and dropped. Everything happens in the context of the timebase's clock: on queues of the
/// machine's clock, and inside `advance` of a virtual one, where decoding takes no time and nothing is ever late. Safe
/// to use from any thread.
public final class SampleBufferPlayer: Sendable {
    /// Limits of a player, and the requirements of its pictures.
    public struct Configuration: Hashable, Sendable {
        /// The player is ready for more while fewer samples than this wait to be decoded.
        public var readySampleCount: Int
        /// The largest number of waiting samples. Further ones are refused, up to a sync sample that finds room.
        public var maximumSampleCount: Int
        /// The number of pictures that are decoded ahead, at least two.
        public var pictureCount: Int
        /// Requirements of the pictures.
        public var attributes: PixelBufferAttributes
        public var limits: DecodingLimits
        /// The reorder depth of the decoder: `complete` for files.
        public var reordering: PictureReordering
        /// The duration of a picture whose sample has no numeric presentation time. It follows the picture before; the
        /// first one is shown at time zero.
        public var untimedPictureDuration: MediaTime

        public init(
            readySampleCount: Int = 16, maximumSampleCount: Int = 600, pictureCount: Int = 4,
            attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
            reordering: PictureReordering = .signalled,
            untimedPictureDuration: MediaTime = MediaTime(value: 1, timescale: 30)
        ) {
            self.readySampleCount = max(1, readySampleCount)
            self.maximumSampleCount = max(1, maximumSampleCount)
            self.pictureCount = max(2, pictureCount)
            self.attributes = attributes
            self.limits = limits
            self.reordering = reordering
            self.untimedPictureDuration = untimedPictureDuration
        }
    }

    /// Events of a player.
    public enum Event: Sendable {
        /// A picture is due: show it until the next.
        case picture(DecodedPicture)
        /// A sample could not be decoded.
        case failed(VideoCodingError)
        /// The time of the last picture before the end of media is over.
        case ended
    }

    /// The timebase by which pictures are shown.
    public let timebase: Timebase
    let eventHandler: @Sendable (Event) -> Void
    let queue: Mutex<PlayerQueue>
    let decoder: Mutex<PlayerDecoder>
    /// Held while events are delivered, so that they come one at a time.
    let presentation = Mutex(())
    private let timers = Mutex<Timers?>(nil)

    private struct Timers {
        var decoding: any MediaTimer
        var presenting: any MediaTimer
        var due: TimebaseTimer
    }

    /// Makes a player. Nothing happens until samples come.
    ///
    /// - Parameters:
    ///   - timebase: The timebase of the presentation. It keeps its time and rate.
    ///   - eventHandler: Called in the clock's context. It may call the player and the timebase.
    public init(
        timebase: Timebase, configuration: Configuration = Configuration(),
        eventHandler: @escaping @Sendable (Event) -> Void
    ) {
        self.timebase = timebase
        self.eventHandler = eventHandler
        queue = Mutex(PlayerQueue(configuration))
        decoder = Mutex(PlayerDecoder(configuration))
        let clock = timebase.clock
        let made = Timers(
            decoding: clock.makeTimer { [weak self] in self?.decodeAhead() },
            presenting: clock.makeTimer { [weak self] in self?.present() },
            due: timebase.makeTimer { [weak self] in self?.present() })
        timers.withLock { $0 = made }
    }

    // MARK: Giving samples

    /// True if there is room for more samples. A periodic source need not check it.
    public var isReadyForMoreMediaData: Bool { queue.withLock { $0.isReady } }

    /// Adds the next sample, in decoding order.
    ///
    /// - Returns: False if the sample was refused: too many wait, or samples were refused before and this is no sync
    ///   sample, or the media has ended.
    @discardableResult
    public func enqueue(_ sample: SampleBuffer) -> Bool {
        let isTaken = queue.withLock { $0.enqueue(sample) }
        if isTaken { wakeDecoder() }
        return isTaken
    }

    /// Calls `whenReady` whenever there is room for more samples, until `stopRequestingMediaData`.
    ///
    /// - Parameter whenReady: Enqueues samples while `isReadyForMoreMediaData`, or calls `endOfMedia`. It is called in
    ///   the clock's context, one call at a time. After a call that enqueues nothing, the next call comes when
    ///   something is enqueued or media data is requested again.
    public func requestMediaData(whenReady: @escaping @Sendable () -> Void) {
        queue.withLock { $0.startRequesting(whenReady) }
        wakeDecoder()
    }

    /// Ends the calls that `requestMediaData` requested. One that has begun continues.
    public func stopRequestingMediaData() {
        queue.withLock { $0.stopRequesting() }
    }

    /// Ends the media: delayed pictures are shown, and then comes `Event.ended`.
    public func endOfMedia() {
        queue.withLock { $0.endOfMedia() }
        wakeDecoder()
    }

    /// Discards all samples and pictures that were not shown, to continue elsewhere, with a sync sample. The event of a
    /// picture that another thread is showing may still come. Requests of media data continue.
    ///
    /// - Parameter time: The place of a seek: the first shown picture is the one that is visible at this time; earlier
    ///   ones, which must be decoded, are not shown. Nil shows every picture.
    public func flush(showingFrom time: MediaTime? = nil) {
        queue.withLock { $0.flush(showingFrom: time) }
        wakeDecoder()
    }

    public var statistics: SampleBufferPlayerStatistics { queue.withLock { $0.currentStatistics } }

    // MARK: Timers

    func wakeDecoder() {
        guard queue.withLock({ $0.wakeDecoder() }) else { return }
        timers.withLock { $0?.decoding.arm(at: timebase.clock.now) }
    }

    func wakePresenter() {
        timers.withLock { $0?.presenting.arm(at: timebase.clock.now) }
    }

    /// Has pictures shown when the timebase reaches `time`; false if it has.
    func present(at time: MediaTime) -> Bool {
        timers.withLock { $0?.due.arm(at: time, forwardOnly: true) ?? true }
    }

    func stopPresenting() {
        timers.withLock { $0?.due.disarm() }
    }
}

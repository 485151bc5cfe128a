import Dispatch
import MediaCore
import MediaFiles
import Synchronization
import VideoCoding

/// Plays a file, and writes its pictures as they are shown.
public final class PlayRun: Sendable {
    private struct State {
        var hasBegun = false
        /// Pictures before the stop.
        var framesShown = 0
        var framesWritten = 0
        /// The time at which the last shown picture ends.
        var lastPictureEnd: MediaTime?
        /// The end of playing and its failure, once it is over.
        var end: (PlayReport.End, ClientError?)?
        var endTime: MediaTime?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let options: PlayOptions
    private let playback: MoviePlayback
    private let virtualClock: VirtualMediaClock?
    /// The time at which playing stops; infinite for the end of the file.
    private let stopTime: MediaTime
    private let startInstant = SystemMediaClock.shared.now
    private let sink: Mutex<(any PictureSink)?>
    private let state = Mutex(State())

    /// Opens the file and the output.
    ///
    /// - Throws: `ClientError.unreadableInput`, `outputNotWritable`, or `usage`.
    public init(_ options: PlayOptions) throws(ClientError) {
        self.options = options
        let link = Link()
        virtualClock = options.isAsFastAsPossible ? VirtualMediaClock() : nil
        var movie = MoviePlayback.Options(
            path: options.path, untimedFrameRate: options.frameRate, start: options.start, loops: options.loops)
        if case .y4m = options.output {
            movie.attributes.formats = [.i420]
            movie.keepsDimensions = true
        }
        playback = try MoviePlayback(movie, clock: virtualClock ?? SystemMediaClock.shared) { link.run?.take($0) }
        let start = MediaTime(options.start, timescale: 1_000_000_000)
        stopTime =
            options.duration.map { start + MediaTime($0, timescale: 1_000_000_000) } ?? .positiveInfinity
        switch options.output {
        case .none: sink = Mutex(nil)
        case .y4m(let path):
            let frameRate = playback.frameRate * options.rate
            sink = Mutex(
                try ClientError.rethrowing { () throws(MediaFileError) in
                    try Y4MWriter(path: path, frameRate: frameRate)
                })
        case .png(let pattern):
            guard let name = NumberedPath(pattern) else {
                throw .usage(reason: "\(pattern) has no place for the picture's number, such as %05d")
            }
            sink = Mutex(try ClientError.rethrowing { () throws(MediaFileError) in try PNGSequenceWriter(name) })
        }
        link.run = self
    }

    /// The run that a player's events go to; the player is made before the run.
    private final class Link: Sendable {
        private struct WeakRun: Sendable {
            weak let run: PlayRun?
        }

        private let target = Mutex(WeakRun(run: nil))

        var run: PlayRun? {
            get { target.withLock { $0.run } }
            set { target.withLock { $0 = WeakRun(run: newValue) } }
        }
    }

    /// Plays until the end, or until `stop`.
    ///
    /// - Returns: The result, and the failure if there was one.
    public func play() async -> (report: PlayReport, problem: ClientError?) {
        let stopTimer = playback.timebase.makeTimer { [weak self] in self?.finish(.duration) }
        if stopTime.isNumeric { stopTimer.arm(at: stopTime) }
        playback.begin()
        if let virtualClock { drive(virtualClock) }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.end == nil else { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
        stopTimer.disarm()
        return conclude()
    }

    /// Ends playing, in order.
    public func stop() {
        finish(.interrupted)
    }

    public var status: PlayStatus {
        let statistics = playback.player.statistics
        let (shown, written) = state.withLock { ($0.framesShown, $0.framesWritten) }
        return PlayStatus(
            time: playback.timebase.time.duration, fileDuration: options.loops ? nil : playback.duration,
            elapsed: SystemMediaClock.shared.now - startInstant, dimensions: playback.dimensions,
            framesShown: shown, framesLate: statistics.late + statistics.skipped,
            framesWritten: options.output == .none ? nil : written)
    }

    /// Has virtual time pass as fast as pictures are decoded and written.
    private func drive(_ clock: VirtualMediaClock) {
        DispatchQueue.global().async { [self] in
            while state.withLock({ $0.end == nil }) {
                // Without a deadline nothing would ever happen again.
                if !clock.advanceToNextDeadline() { finish(.failed, .failed(reason: "the player stopped")) }
            }
        }
    }

    private func take(_ event: SampleBufferPlayer.Event) {
        switch event {
        case .picture(let picture):
            // Past the stop there are only pictures that are due at the same instant as the stop.
            guard picture.presentationTime < stopTime, state.withLock({ $0.end == nil }) else { return }
            let end = picture.presentationTime + MediaTime(seconds: 1 / playback.frameRate, timescale: 90_000)
            state.withLock { state in
                state.framesShown += 1
                state.lastPictureEnd = end
            }
            do throws(MediaFileError) {
                let isWritten = try sink.withLock { sink throws(MediaFileError) in
                    try sink?.write(picture.pixelBuffer)
                    return sink != nil
                }
                if isWritten { state.withLock { $0.framesWritten += 1 } }
            } catch {
                finish(.failed, ClientError(error))
                return
            }
            begin()
        case .failed:
            break
        case .ended:
            if let error = playback.error { finish(.failed, error) } else { finish(.endOfFile) }
        }
    }

    /// Starts the time with the first picture, so that it does not run while the first ones are decoded.
    private func begin() {
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
        if isFirst { playback.timebase.setRate(options.rate) }
    }

    private func finish(_ end: PlayReport.End, _ error: ClientError? = nil) {
        let time = min(playback.timebase.time, stopTime)
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.end = (end, error)
            state.endTime = end == .endOfFile ? state.lastPictureEnd : time
            defer { state.waiter = nil }
            return state.waiter
        }
        playback.player.stopRequestingMediaData()
        playback.timebase.setRate(0)
        waiter?.resume()
    }

    private func conclude() -> (report: PlayReport, problem: ClientError?) {
        let statistics = playback.player.statistics
        let (end, endTime, shown, written) = state.withLock { ($0.end, $0.endTime, $0.framesShown, $0.framesWritten) }
        var (reason, problem) = end ?? (.failed, nil)
        do throws(MediaFileError) {
            try sink.withLock { sink throws(MediaFileError) in
                // A picture that is due at this very moment finds no sink any more.
                defer { sink = nil }
                try sink?.finish()
            }
        } catch {
            problem = problem ?? ClientError(error)
            reason = .failed
        }
        let duration = max(0, ((endTime ?? .zero).duration - options.start).seconds)
        if problem == nil, reason == .endOfFile, statistics.decoded == 0 {
            problem = .unreadableInput(path: options.path, reason: "none of its frames can be decoded")
            reason = .failed
        } else if problem == nil, reason == .endOfFile, duration == 0 {
            problem = .usage(reason: "\(options.path) ends before \(options.start.seconds) s; start earlier")
            reason = .failed
        }
        let report = PlayReport(
            path: options.path, width: playback.dimensions.width, height: playback.dimensions.height,
            framesPerSecond: playback.frameRate, fileSeconds: playback.duration?.seconds, rate: options.rate,
            startSeconds: options.start.seconds,
            durationSeconds: duration,
            elapsedSeconds: (SystemMediaClock.shared.now - startInstant).seconds, end: reason,
            frames: .init(
                shown: shown, late: statistics.late, skipped: statistics.skipped,
                prerolled: statistics.prerolled, decoded: statistics.decoded, concealed: statistics.concealed,
                dropped: statistics.dropped, decodeErrors: statistics.failed, written: written),
            largestLatenessSeconds: statistics.largestLateness.seconds, output: options.output.name)
        return (report, problem)
    }
}

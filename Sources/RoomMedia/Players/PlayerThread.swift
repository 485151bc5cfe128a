package import Dispatch
import Foundation
package import MediaCore
import MediaFiles
package import PeerConnection
package import RoomAPI
import Synchronization

/// The thread of one player: has its film or stream opened and read by another thread, decodes it, and hands its
/// pictures and its audio out when they are due. Nobody waits for it.
package final class PlayerThread: Sendable {
    /// Where pictures, audio and news go. All are called on the thread.
    package struct Output: Sendable {
        var show: @Sendable (PixelBuffer, VideoRotation) -> Void
        /// A picture that was encoded on demand, and when it was shown. Returns whether it is taken.
        var encoded: @Sendable (SampleBuffer, VideoRotation, MonotonicInstant) -> Bool
        var play: @Sendable (ReceivedAudioPacket) -> Void
        var tell: @Sendable (PlayerStatus) -> Void

        package init(
            show: @escaping @Sendable (PixelBuffer, VideoRotation) -> Void,
            encoded: @escaping @Sendable (SampleBuffer, VideoRotation, MonotonicInstant) -> Bool,
            play: @escaping @Sendable (ReceivedAudioPacket) -> Void, tell: @escaping @Sendable (PlayerStatus) -> Void
        ) {
            self.show = show
            self.encoded = encoded
            self.play = play
            self.tell = tell
        }
    }

    /// The state that the loop and the thread share.
    private struct State {
        var status: PlayerStatus
        var settings: PlayerSettings
        var isChanged = false
        var seek: Duration?
        var demand: PlayerPictureDemand?
        var isEnded = false
        var detail: String?
        var place = Duration.zero
        var duration: Duration?
        var isSeekable = false
        var framesShown = 0
        var framesDropped = 0
        /// The pictures that were shown and dropped before the source was opened again.
        var before = (shown: 0, dropped: 0)
    }

    private let target: PlayerTarget
    private let rules: PlayerRules
    private let output: Output
    private let state: Mutex<State>
    private let wakeUp = TimedSemaphore()
    private let finished = DispatchGroup()

    /// Less important than calls: decoding a film may take a core.
    private static let niceness: CInt = 5

    /// A film that is shorter begins anew no sooner: one of a single picture would take all of a core, and of the loop.
    private static let shortestPass = Duration.milliseconds(100)

    /// Has other threads run before the current one.
    static func yieldToCalls() {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    }

    /// Starts the thread.
    ///
    /// - Parameter place: Where a film begins, if it can be played from there.
    package init(
        _ target: PlayerTarget, rules: PlayerRules, status: PlayerStatus, settings: PlayerSettings,
        place: Duration = .zero, output: Output
    ) {
        self.target = target
        self.rules = rules
        self.output = output
        state = Mutex(State(status: status, settings: settings, place: place))
        finished.enter()
        Thread.detach(named: "player") { [self] in
            Self.yieldToCalls()
            run()
            finished.leave()
        }
    }

    // MARK: On the loop

    /// Changes how it plays.
    package func change(_ change: PlayerChange) {
        state.withLock { state in
            state.settings = state.settings.changed(by: change)
            state.isChanged = true
            if let position = change.position, state.isSeekable {
                // Behind its end there is nothing of a film.
                let place = Duration.seconds(clamping: position)
                state.seek = min(place, state.duration ?? place)
            }
        }
        wakeUp.signal()
    }

    /// Sets for what its pictures are encoded.
    package func setDemand(_ demand: PlayerPictureDemand?) {
        state.withLock { state in
            let isOwed = state.demand?.needsKeyframe ?? false
            state.demand = demand
            if isOwed { state.demand?.needsKeyframe = true }
        }
    }

    /// Ends it.
    package func end() {
        state.withLock { $0.isEnded = true }
        wakeUp.signal()
    }

    package var isFinished: Bool { finished.wait(timeout: .now()) == .success }

    /// Returns when the thread has ended, or after so long.
    package func waitUntilFinished(timeout: DispatchTimeInterval) async {
        await finished.waitUntilDone(timeout: timeout)
    }

    package var isSeekable: Bool { state.withLock { $0.isSeekable } }

    package func description(url: String) -> PlayerDescription {
        state.withLock { state in
            PlayerDescription(
                state.status, url: url, settings: state.settings, detail: state.detail,
                position: (state.place.seconds * 1000).rounded() / 1000,
                duration: state.duration.map { ($0.seconds * 1000).rounded() / 1000 }, seekable: state.isSeekable,
                framesShown: state.framesShown, framesDropped: state.framesDropped)
        }
    }

    // MARK: On the thread

    private func run() {
        defer { target.close() }
        var delays = ReconnectDelays()
        var turn = 0
        var place = state.withLock { $0.place }
        var isKnown = false
        while !isEnded {
            // While it is tried again, everybody knows that it waits.
            if turn == 0 { tell(.opening) }
            let reader = PlayerReader(target, rules: rules, turn: turn, place: place)
            let began = MonotonicInstant.now()
            let (failure, hasPlayed) = play(reader)
            reader.stop()
            // A pushed stream cannot be opened again.
            if target.isPushed { target.close() }
            // The room is told first. A reader that has not ended yet counts with this thread.
            defer { reader.waitUntilFinished() }
            guard let failure else { return }
            // A film that cannot be opened will not be a film later; but its server may come back.
            let mayPass =
                target.isLive || (target.address != nil && (hasPlayed || isKnown && failure.reason != .failed))
            if hasPlayed { isKnown = true }
            guard mayPass, !target.isPushed, failure.reason != .notPermitted, failure.reason != .finished else {
                tell(.ended, failure)
                return
            }
            if !target.isLive { place = state.withLock { $0.place } }
            turn += 1
            tell(.waiting, failure)
            pause(delays.next(after: hasPlayed ? MonotonicInstant.now() - began : .zero, random: .random(in: 0...1)))
        }
    }

    private var isEnded: Bool { state.withLock { $0.isEnded } }

    private func pause(_ duration: Duration) {
        let end = MonotonicInstant.now() + duration
        while !isEnded, wakeUp.wait(until: end) {}
    }

    /// Tells the state to the room, if it is another one.
    private func tell(
        _ new: PlayerStatus.State, _ failure: PlayerFailure? = nil, opened: PlayerReader.Opened? = nil
    ) {
        let status: PlayerStatus? = state.withLock { state in
            guard !state.isEnded else { return nil }
            let before = state.status
            (state.status.state, state.status.reason) = (new, failure?.reason)
            state.detail = failure?.detail
            if let opened {
                (state.status.video, state.status.audio) = (opened.video != nil, opened.audio != nil)
                (state.duration, state.isSeekable) = (opened.duration, opened.isSeekable)
                state.before = (state.framesShown, state.framesDropped)
            }
            return state.status == before ? nil : state.status
        }
        if let status { output.tell(status) }
    }

    /// Plays until the end. Returns the reason if it is not a request, and whether anything was shown.
    private func play(_ reader: PlayerReader) -> (failure: PlayerFailure?, hasPlayed: Bool) {
        while true {
            if isEnded { return (nil, false) }
            // Read before the streams: a short film may have been read as a whole.
            let end = reader.packets.end
            if let opened = reader.opened {
                do {
                    var session = try PlayerSession(opened, reader.packets, settings: state.withLock(\.settings))
                    tell(session.state, opened: opened)
                    return (play(&session, reader), session.hasPlayed)
                } catch {
                    return (PlayerFailure(error), false)
                }
            }
            if let end { return (end ?? PlayerFailure(reason: .failed), false) }
            _ = reader.packets.news.wait(for: .milliseconds(100))
        }
    }

    private func play(_ session: inout PlayerSession, _ reader: PlayerReader) -> PlayerFailure? {
        var audio: PlayerAudio
        do {
            audio = try PlayerAudio()
        } catch {
            return PlayerFailure(reason: .failed, detail: "the relay cannot encode Opus")
        }
        var encoder = PlayerEncoder()
        var begun = MonotonicInstant.now()
        while true {
            let now = MonotonicInstant.now()
            guard !takeOrders(&session, now: now) else { return nil }
            session.decode(now: now)
            switch session.next(now: now) {
            case .show(let picture):
                output.show(picture, session.rotation)
                if let sample = encoder.encode(picture, for: takeDemand(), now: now),
                    !output.encoded(sample, session.rotation, now)
                {
                    encoder.lostFrame()
                }
            case .play(let frame, let due):
                if let packet = audio.packet(of: frame, due: due, now: now) { output.play(packet) }
            case .wait(let instant): wait(until: instant, isHungry: session.wantsMore)
            case .end:
                if let failure = session.failure {
                    // It goes on from here, where a seek may have led.
                    publish(session, now: now)
                    return failure
                }
                guard session.settings.loop, !target.isLive else { return PlayerFailure(reason: .finished) }
                let next = begun + Self.shortestPass
                if now >= next {
                    begun = now
                    session.seek(to: .zero)
                } else {
                    wait(until: next, isHungry: false)
                }
            }
            publish(session, now: now)
        }
    }

    private func takeDemand() -> PlayerPictureDemand? {
        state.withLock { state in
            defer { state.demand?.needsKeyframe = false }
            return state.demand
        }
    }

    /// Takes what the loop asks for. Returns whether that is the end.
    private func takeOrders(_ session: inout PlayerSession, now: MonotonicInstant) -> Bool {
        let (isEnded, settings, seek): (Bool, PlayerSettings?, Duration?) = state.withLock { state in
            defer { (state.isChanged, state.seek) = (false, nil) }
            return (state.isEnded, state.isChanged ? state.settings : nil, state.seek)
        }
        if let settings { session.set(settings, now: now) }
        if let seek { session.seek(to: seek) }
        if settings != nil { tell(session.state) }
        return isEnded
    }

    /// Waits until it is time, or an order comes; not for long if packets are wanted, which may come at any time.
    private func wait(until instant: MonotonicInstant, isHungry: Bool) {
        let wait = min(max(instant - .now(), .milliseconds(1)), isHungry ? .milliseconds(10) : .seconds(1))
        _ = wakeUp.wait(until: .now() + wait)
    }

    private func publish(_ session: PlayerSession, now: MonotonicInstant) {
        state.withLock { state in
            state.place = session.place(now: now)
            state.framesShown = state.before.shown + session.framesShown
            state.framesDropped = state.before.dropped + session.framesDropped
        }
    }
}

import Foundation
import MediaCore
import MediaFiles
import RoomAPI
import Synchronization

/// The thread that opens a film or stream once, and reads its packets.
final class PlayerReader: Sendable {
    /// The streams of an opened film.
    struct Opened: Sendable {
        var video: MediaCoding?
        var audio: MediaCoding?
        var duration: Duration?
        var isSeekable: Bool
        var isLive: Bool
        /// The place in the film at which it begins.
        var place: Duration
    }

    /// The longest wait of the thread for a server.
    private static let openingPatience = Duration.seconds(15)
    private static let readingPatience = Duration.seconds(10)

    let packets = PlayerPackets()
    private let deadline = Atomic(MonotonicInstant.distantFuture.nanoseconds)
    private let result = Mutex<Opened?>(nil)
    private let isStopped = Atomic(false)
    private let finished = DispatchGroup()

    /// Starts the thread.
    ///
    /// - Parameter place: Where a film is to begin.
    init(_ target: PlayerTarget, rules: PlayerRules, turn: Int, place: Duration) {
        finished.enter()
        Thread.detach(named: "player-reader") { [self] in
            PlayerThread.yieldToCalls()
            run(target, rules, turn: turn, place: place)
            finished.leave()
        }
    }

    private func run(_ target: PlayerTarget, _ rules: PlayerRules, turn: Int, place: Duration) {
        do {
            wait(atMost: Self.openingPatience)
            let source = try rules.source(of: target, turn: turn)
            let input = try MediaInput(source) { [self] in isAbandoned }
            var opened = Opened(
                video: input.video, audio: input.audio, duration: input.duration, isSeekable: input.isSeekable,
                isLive: source.isLive, place: .zero)
            if place > .zero, input.isSeekable {
                let place = min(place, input.duration ?? place)
                try input.seek(to: place)
                opened.place = place
            }
            result.withLock { $0 = opened }
            packets.news.signal()
            try read(input, isLive: source.isLive, isPushed: target.isPushed)
        } catch {
            let failure =
                switch error {
                case let failure as PlayerFailure: failure
                case let failure as StreamFailure: PlayerFailure(failure)
                default: PlayerFailure(reason: .failed)
                }
            // A seek does not mend it.
            while packets.tellEnd(failure) != .stop {}
        }
    }

    private func read(_ input: MediaInput, isLive: Bool, isPushed: Bool) throws(StreamFailure) {
        while true {
            wait(atMost: Self.readingPatience)
            let packet = try input.next()
            wait(atMost: nil)
            let order =
                if let packet {
                    packets.append(packet, isLive: isLive, hasVideo: input.video != nil)
                } else {
                    packets.tellEnd(isLive && !isPushed ? PlayerFailure(reason: .connectionLost) : nil)
                }
            switch order {
            case .goOn: continue
            case .seek(let time): try input.seek(to: time)
            case .stop: return
            }
        }
    }

    private func wait(atMost patience: Duration?) {
        let end = patience.map { MonotonicInstant.now() + $0 } ?? .distantFuture
        deadline.store(end.nanoseconds, ordering: .relaxed)
    }

    private var isAbandoned: Bool {
        isStopped.load(ordering: .relaxed)
            || MonotonicInstant.now().nanoseconds > deadline.load(ordering: .relaxed)
    }

    // MARK: On the thread that plays

    /// The streams; nil until they are known.
    var opened: Opened? { result.withLock { $0 } }

    /// Ends the thread, soon.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        packets.close()
    }

    /// Returns when the thread has ended, which waits for a web server's last answer.
    func waitUntilFinished() { finished.wait() }
}

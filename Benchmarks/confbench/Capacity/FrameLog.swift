import ConferenceClient
import MediaCore
import Synchronization

/// The frames that senders sent and that one viewer received, with the times of their last packets.
final class FrameLog: Sendable {
    struct Received: Sendable {
        var sample: SampleBuffer
        var time: MonotonicInstant
    }

    private struct Entries {
        var sent: [FrameMark: [MonotonicInstant]] = [:]
        var received: [Received] = []
    }

    private let entries = Mutex(Entries())

    func sent(_ frame: FrameMark, at time: MonotonicInstant) {
        entries.withLock { $0.sent[frame, default: []].append(time) }
    }

    func received(_ sample: SampleBuffer, at time: MonotonicInstant) {
        entries.withLock { $0.received.append(Received(sample: sample, time: time)) }
    }

    /// The times at which each frame of the clips was sent, in order.
    var sent: [FrameMark: [MonotonicInstant]] { entries.withLock { $0.sent } }

    /// The received frames in their order.
    var received: [Received] { entries.withLock { $0.received } }
}

/// Logs what a client of the relay sends and receives.
struct FrameLogger: FrameObserver {
    let log: FrameLog
    /// The number of the sender whose clip the client sends; nil if what it sends is not logged.
    var sender: Int?
    /// True if the client is the viewer.
    var isViewer: Bool

    func sent(_ sample: SampleBuffer, at time: MonotonicInstant) {
        guard let sender else { return }
        log.sent(FrameMark(sender: sender, number: TestClip.number(of: sample)), at: time)
    }

    func received(_ sample: SampleBuffer, at time: MonotonicInstant) {
        if isViewer { log.received(sample, at: time) }
    }
}

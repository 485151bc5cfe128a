import MediaCore
import Synchronization

/// Counts how many encoders encode at a tick.
final class EncoderStatistics: Sendable {
    struct Figures {
        var most = 0
        var frames = 0
        var ticks = 0
        fileprivate var time: MediaTime?
        fileprivate var atTime = 0
    }

    private let state = Mutex(Figures())

    func count(at time: MediaTime) {
        state.withLock { figures in
            if figures.time != time {
                (figures.time, figures.atTime) = (time, 0)
                figures.ticks += 1
            }
            figures.atTime += 1
            figures.frames += 1
            figures.most = max(figures.most, figures.atTime)
        }
    }

    /// Begins anew.
    func reset() { state.withLock { $0 = Figures() } }

    var figures: Figures { state.withLock { $0 } }
}

import MediaCore
import Synchronization

/// Counts the encoders that encode at each tick.
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

    func reset() { state.withLock { $0 = Figures() } }

    var figures: Figures { state.withLock { $0 } }
}

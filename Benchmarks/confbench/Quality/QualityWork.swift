import H264
import MediaCore
import NIOCore
import Synchronization

/// The work of a room's encoders: their processor time, and the picture of each frame.
final class QualityWork: Sendable {
    private struct State {
        var encoding = FloorCost.Stage()
        var composing = FloorCost.Stage()
        var yardstick = FloorCost.Stage()
        var times: [Int: MonotonicInstant] = [:]
    }

    private let state = Mutex(State())
    /// The time from which processor time counts.
    private let begin: MonotonicInstant

    init(since begin: MonotonicInstant) {
        self.begin = begin
    }

    /// Processor time of frames.
    var encoding: FloorCost.Stage { state.withLock { $0.encoding } }
    /// Processor time of composing in further sizes than one.
    var composing: FloorCost.Stage { state.withLock { $0.composing } }

    /// The processor time of the work that is the same in every way.
    var yardstick: FloorCost.Stage { state.withLock { $0.yardstick } }

    func addYardstick(_ spent: Duration, at time: MonotonicInstant) {
        guard time >= begin else { return }
        state.withLock { $0.yardstick.add(spent, count: 1) }
    }

    func addComposition(_ spent: Duration, at time: MonotonicInstant) {
        guard time >= begin else { return }
        state.withLock { $0.composing.add(spent, count: 1) }
    }

    func addFrame(_ sample: SampleBuffer?, spent: Duration, at time: MonotonicInstant) {
        let key = sample.flatMap(Self.key)
        state.withLock { state in
            if time >= begin { state.encoding.add(spent, count: 1) }
            if let key { state.times[key] = time }
        }
    }

    /// The time at which the frame's picture was composed.
    func captureTime(of sample: SampleBuffer) -> MonotonicInstant? {
        guard let key = Self.key(sample) else { return nil }
        return state.withLock { $0.times[key] }
    }

    /// A key made of the slices, which reach the receiver unchanged.
    private static func key(_ sample: SampleBuffer) -> Int? {
        guard let units = try? sample.nalUnits() else { return nil }
        var hasher = Hasher()
        for unit in units where unit.isVCL {
            unit.bytes.withUnsafeReadableBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}

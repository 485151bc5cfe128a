import LoadControl
import MediaCore

extension EncodeGroup {
    /// The outcome of a tick.
    enum Tick {
        case encoded(Job)
        /// There is nothing to send.
        case idle
        /// The encoder is busy: `resume` takes the picture once it is not.
        case postponed
        /// The picture took the place of an older one, of this tick, whose job still waits for a worker.
        case replaced(MonotonicInstant)
        /// No receiver has room.
        case leftOut
    }

    /// A composed picture with the data for its encoding.
    struct Request {
        var tick: ComposedTick
        /// The picture's index among the tick's pictures.
        var index: Int
        var room: String
        /// The time at which the frame is needed.
        var deadline: MonotonicInstant
        var limits: WorkLimits
        /// Ticks a second.
        var tickRate: Int

        var picture: PixelBuffer? { tick.pictures.indices.contains(index) ? tick.pictures[index] : nil }
    }

    /// The receivers that could take a frame.
    struct Demand {
        /// A receiver that follows the group.
        var activeHasRoom = false
        /// True if a receiver that waits for a keyframe has room.
        var pendingHasRoom = false
        /// The most that a keyframe is to take.
        private(set) var keyframeBound: DataSize?

        mutating func bound(to size: DataSize) { keyframeBound = min(keyframeBound ?? size, size) }
    }
}

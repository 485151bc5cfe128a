import AllocationCounter

/// One way to do the same work: the bare codec, or a session over it.
struct SessionContender {
    var name: String
    /// Does one frame.
    var frame: (_ number: Int) throws -> Void
    /// The product so far, in the comparison's own measure.
    var product: () -> Int
    /// The processor time that counts: this thread's, unless others work for it.
    var processorTime: () -> Duration = ThreadClock.now

    /// The cost of some frames.
    struct Cost: Sendable {
        var time = Duration.zero
        var allocations = 0
        var allocatedBytes = 0

        static func += (left: inout Cost, right: Cost) {
            left.time += right.time
            left.allocations += right.allocations
            left.allocatedBytes += right.allocatedBytes
        }
    }

    /// Does frames on this thread and measures them.
    func run(_ frames: Range<Int>) throws -> Cost {
        let counts = allocation_counter_read()
        let began = processorTime()
        for number in frames { try frame(number) }
        let time = processorTime() - began
        let after = allocation_counter_read()
        return Cost(
            time: time, allocations: Int(after.count - counts.count), allocatedBytes: Int(after.bytes - counts.bytes))
    }
}

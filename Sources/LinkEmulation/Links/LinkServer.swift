package import MediaCore

/// Computes when packets leave a queue. The link's future rate is known, so the time is known when the packet arrives.
package struct LinkServer: Sendable {
    private let rate: LinkRate
    private let start: MonotonicInstant
    /// The time at which the last packet left, or will leave.
    private var lastDeparture: MonotonicInstant
    /// The last used opportunity of a trace, counted over its repetitions; `leftover` is the number of its unused
    /// bytes.
    private var opportunity: Int64 = -1
    private var leftover = 0
    /// The step at `lastDeparture`.
    private var step = 0

    package init(rate: LinkRate, start: MonotonicInstant) {
        self.rate = rate
        self.start = start
        lastDeparture = start
    }

    /// Returns the time at which a packet that arrives now will have left; `distantFuture` if it never leaves.
    package mutating func serve(_ size: DataSize, now: MonotonicInstant) -> MonotonicInstant {
        let begin = max(now, lastDeparture)
        switch rate {
        case .unlimited: lastDeparture = begin
        case .fixed(let rate): lastDeparture = begin + rate.duration(for: size)
        case .steps(let steps): lastDeparture = departure(of: size, from: begin, steps)
        case .trace(let trace): lastDeparture = departure(of: size, now: now, trace)
        }
        return lastDeparture
    }

    /// Returns the time at which the next packet can begin to leave if it is there at `now`: at once, or with a trace
    /// at the next opportunity.
    func nextStart(now: MonotonicInstant) -> MonotonicInstant {
        let begin = max(now, lastDeparture)
        guard case .trace(let trace) = rate else { return begin }
        if opportunity >= 0 {
            if leftover > 0, time(of: opportunity, trace) >= begin { return time(of: opportunity, trace) }
            let next = time(of: opportunity + 1, trace)
            if next >= begin { return next }
        }
        return time(of: firstOpportunity(at: begin, trace), trace)
    }

    /// Adds up the capacity of each step until the packet has left.
    private mutating func departure(
        of size: DataSize, from begin: MonotonicInstant, _ steps: [LinkRate.Step]
    ) -> MonotonicInstant {
        guard !steps.isEmpty else { return begin }
        var time = begin
        var bits = size.bits
        while time < .distantFuture {
            while step + 1 < steps.count, start + steps[step + 1].time <= time { step += 1 }
            let next = step + 1 < steps.count ? start + steps[step + 1].time : .distantFuture
            let rate = steps[step].rate
            let needed = rate > .zero ? bits / Double(rate.bitsPerSecond) : .infinity
            let available = (next - time).seconds
            guard needed > available else { return time + .seconds(clamping: needed) }
            bits -= available * Double(rate.bitsPerSecond)
            time = next
        }
        return .distantFuture
    }

    /// Uses the rest of the last opportunity if the packet arrived in time, then as many more as it needs.
    private mutating func departure(
        of size: DataSize, now: MonotonicInstant, _ trace: DeliveryTrace
    ) -> MonotonicInstant {
        if opportunity < 0 || time(of: opportunity, trace) < now {
            opportunity = firstOpportunity(at: now, trace)
            leftover = DeliveryTrace.opportunitySize.bytes
        }
        let missing = size.bytes - leftover
        if missing > 0 {
            let each = DeliveryTrace.opportunitySize.bytes
            let count = (missing - 1) / each + 1
            opportunity += Int64(count)
            leftover = count * each - missing
        } else {
            leftover -= size.bytes
        }
        return time(of: opportunity, trace)
    }

    private func time(of opportunity: Int64, _ trace: DeliveryTrace) -> MonotonicInstant {
        let (cycle, index) = opportunity.quotientAndRemainder(dividingBy: Int64(trace.times.count))
        return start + trace.period * Int(cycle) + .milliseconds(trace.times[Int(index)])
    }

    /// Returns the first opportunity at or after a time.
    private func firstOpportunity(at time: MonotonicInstant, _ trace: DeliveryTrace) -> Int64 {
        let elapsed = max(time - start, .zero).nanoseconds
        let (cycle, rest) = elapsed.quotientAndRemainder(dividingBy: trace.period.nanoseconds)
        return cycle * Int64(trace.times.count) + Int64(trace.index(atOrAfter: rest))
    }
}

internal import MediaCore
internal import RTP

/// The parameters of DualPI2 (RFC 9332, appendix A.1).
public struct DualPI2Parameters: Hashable, Sendable {
    /// The delay at which the classic queue is held.
    public var target: Duration
    /// The interval at which the base probability is updated.
    public var updateInterval: Duration
    /// The gains of the controller's integral and proportional parts, in Hz.
    public var integralGain: Double
    public var proportionalGain: Double
    /// The factor from the base probability to the marking probability of the L4S queue.
    public var couplingFactor: Double
    /// The delay at which the L4S queue begins to mark packets. It marks all packets above `stepMinimum + stepRange`.
    public var stepMinimum: Duration
    public var stepRange: Duration
    /// The least part of the capacity that the classic queue gets.
    public var classicWeight: Double

    public init(
        target: Duration = .milliseconds(15), updateInterval: Duration = .milliseconds(15),
        integralGain: Double = 0.15, proportionalGain: Double = 3, couplingFactor: Double = 2,
        stepMinimum: Duration = .microseconds(800), stepRange: Duration = .microseconds(400),
        classicWeight: Double = 1.0 / 16
    ) {
        self.target = target
        self.updateInterval = updateInterval
        self.integralGain = integralGain
        self.proportionalGain = proportionalGain
        self.couplingFactor = couplingFactor
        self.stepMinimum = stepMinimum
        self.stepRange = stepRange
        self.classicWeight = classicWeight
    }
}

/// The probabilities of DualPI2: one controller for both queues, squared for the classic one.
struct DualPI2Control: Sendable {
    let parameters: DualPI2Parameters
    /// The base probability, p' in the RFC.
    private(set) var base = 0.0
    private var previousDelay = 0.0

    init(_ parameters: DualPI2Parameters) {
        self.parameters = parameters
    }

    /// The probability of drops or marks in the classic queue (p_C).
    var classic: Double { base * base }
    /// The probability of marks in the L4S queue that the classic queue causes (p_CL).
    var coupled: Double { min(base * parameters.couplingFactor, 1) }
    /// True if marks alone can no longer control the queue.
    var isOverloaded: Bool { base * parameters.couplingFactor >= 1 }

    /// Updates the base probability with the delay of the longer-waiting queue.
    mutating func update(delay: Duration) {
        let delay = delay.seconds
        let change =
            parameters.integralGain * (delay - parameters.target.seconds)
            + parameters.proportionalGain * (delay - previousDelay)
        base = min(max(base + change, 0), 1)
        previousDelay = delay
    }

    /// Returns the probability of marks in the L4S queue that its own delay causes (p'_L).
    func native(delay: Duration) -> Double {
        guard delay > parameters.stepMinimum else { return 0 }
        guard parameters.stepRange > .zero else { return 1 }
        return min((delay - parameters.stepMinimum).seconds / parameters.stepRange.seconds, 1)
    }
}

/// Two queues, for L4S and for classic traffic. Their marks are coupled so that flows of both kinds get similar rates
/// (RFC 9332, appendix A). The scheduler is a weighted round robin that serves L4S first and does not starve the
/// classic queue.
struct DualPI2<Packet> {
    private var control: DualPI2Control
    private var lowLatency = PacketFIFO<Packet>()
    private var classic = PacketFIFO<Packet>()
    private var nextUpdate: MonotonicInstant
    /// The bytes that the classic queue may send before the L4S queue.
    private var classicCredit = 0.0
    /// Sums that make marks deterministic instead of random (the RFC's `recur`): the probabilities of a queue's
    /// packets.
    private var lowLatencyCount = 0.0
    private var classicCount = 0.0

    init(_ parameters: DualPI2Parameters, start: MonotonicInstant) {
        control = DualPI2Control(parameters)
        nextUpdate = start + parameters.updateInterval
    }

    var size: DataSize { lowLatency.size + classic.size }
    var count: Int { lowLatency.count + classic.count }

    mutating func enqueue(_ packet: QueuedPacket<Packet>, now: MonotonicInstant) {
        update(now: now)
        switch packet.ecn {
        case .capable1, .congestionExperienced: lowLatency.append(packet)
        case .notCapable, .capable0: classic.append(packet)
        }
    }

    mutating func dequeue(now: MonotonicInstant, counters: inout QueueCounters) -> QueuedPacket<Packet>? {
        update(now: now)
        while true {
            if servesLowLatency {
                // At low rates the transmission of a single packet takes longer than the ramp allows. One packet is no
                // queue (`Th_len`, one packet).
                let native = lowLatency.count > 1 ? control.native(delay: lowLatency.delay(now: now)) : 0
                guard var packet = lowLatency.popFirst() else { return nil }
                if !classic.isEmpty {
                    let weight = control.parameters.classicWeight
                    classicCredit += Double(packet.size.bytes) * weight / (1 - weight)
                }
                if control.isOverloaded, Self.recurs(&lowLatencyCount, control.classic) {
                    counters.dropped += 1
                    continue
                }
                if Self.recurs(&lowLatencyCount, max(native, control.coupled)) {
                    packet.ecn = .congestionExperienced
                    counters.marked += 1
                }
                return packet
            }
            guard var packet = classic.popFirst() else { return nil }
            classicCredit = classic.isEmpty ? 0 : max(classicCredit - Double(packet.size.bytes), 0)
            if Self.recurs(&classicCount, control.classic) {
                if packet.ecn == .notCapable || control.isOverloaded {
                    counters.dropped += 1
                    continue
                }
                packet.ecn = .congestionExperienced
                counters.marked += 1
            }
            return packet
        }
    }

    private var servesLowLatency: Bool {
        guard let waiting = classic.first else { return true }
        return !lowLatency.isEmpty && classicCredit < Double(waiting.size.bytes)
    }

    private mutating func update(now: MonotonicInstant) {
        while nextUpdate <= now {
            control.update(
                delay: max(classic.delay(now: nextUpdate), lowLatency.delay(now: nextUpdate)))
            nextUpdate += control.parameters.updateInterval
        }
    }

    private static func recurs(_ count: inout Double, _ probability: Double) -> Bool {
        count += probability
        guard count > 1 else { return false }
        count -= 1
        return true
    }
}

extension DualPI2: Sendable where Packet: Sendable {}

internal import MediaCore
internal import RTP

/// What DualPI2 is set to (RFC 9332, appendix A.1).
public struct DualPI2Parameters: Hashable, Sendable {
    /// The delay that the classic queue is held at.
    public var target: Duration
    /// How often the base probability is computed.
    public var updateInterval: Duration
    /// Gains of the controller's integral and proportional parts, in Hz.
    public var integralGain: Double
    public var proportionalGain: Double
    /// How much more likely a packet of the L4S queue is marked, than the base probability.
    public var couplingFactor: Double
    /// Packets of the L4S queue are marked more and more from this delay on, and all of them above it and the range.
    public var stepMinimum: Duration
    public var stepRange: Duration
    /// The part of the capacity that the classic queue gets at least.
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
    /// p' of the RFC.
    private(set) var base = 0.0
    private var previousDelay = 0.0

    init(_ parameters: DualPI2Parameters) {
        self.parameters = parameters
    }

    /// p_C: with which the classic queue drops or marks.
    var classic: Double { base * base }
    /// p_CL: with which the L4S queue marks for the classic queue's sake.
    var coupled: Double { min(base * parameters.couplingFactor, 1) }
    /// Marks alone cannot hold the queue any more.
    var isOverloaded: Bool { base * parameters.couplingFactor >= 1 }

    /// Takes the delay of the queue that waits longest.
    mutating func update(delay: Duration) {
        let delay = delay.seconds
        let change =
            parameters.integralGain * (delay - parameters.target.seconds)
            + parameters.proportionalGain * (delay - previousDelay)
        base = min(max(base + change, 0), 1)
        previousDelay = delay
    }

    /// p'_L: with which the L4S queue marks for its own delay.
    func native(delay: Duration) -> Double {
        guard delay > parameters.stepMinimum else { return 0 }
        guard parameters.stepRange > .zero else { return 1 }
        return min((delay - parameters.stepMinimum).seconds / parameters.stepRange.seconds, 1)
    }
}

/// Two queues, for L4S and for classic traffic, whose marks are coupled so that flows of both kinds get like rates
/// (RFC 9332, appendix A). The scheduler is a weighted round robin that serves L4S first and keeps the classic queue
/// from starving.
struct DualPI2<Packet> {
    private var control: DualPI2Control
    private var lowLatency = PacketFIFO<Packet>()
    private var classic = PacketFIFO<Packet>()
    private var nextUpdate: MonotonicInstant
    /// What the classic queue may send before the other, in bytes.
    private var classicCredit = 0.0
    /// Deterministic instead of random marks: what a queue's packets add up to (the RFC's `recur`).
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
                // At low rates a single packet takes longer than the ramp allows: it is no queue (`Th_len`, one
                // packet).
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

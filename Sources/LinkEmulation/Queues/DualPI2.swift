internal import MediaCore
internal import RTP

/// The probabilities of DualPI2: one controller for both queues, squared for the classic one.
struct DualPI2Control: Sendable {
    // RFC 9332, appendix A.1.
    /// The delay at which the classic queue is held.
    private static let target = Duration.milliseconds(15)
    /// The interval at which the base probability is updated.
    static let updateInterval = Duration.milliseconds(15)
    /// The gains of the controller's integral and proportional parts, in Hz.
    private static let integralGain = 0.15
    private static let proportionalGain = 3.0
    /// The factor from the base probability to the marking probability of the L4S queue.
    private static let couplingFactor = 2.0
    /// The delay at which the L4S queue begins to mark packets. It marks all packets above `stepMinimum + stepRange`.
    private static let stepMinimum = Duration.microseconds(800)
    private static let stepRange = Duration.microseconds(400)
    /// The least part of the capacity that the classic queue gets.
    static let classicWeight = 1.0 / 16

    /// The base probability, p' in the RFC.
    private(set) var base = 0.0
    private var previousDelay = 0.0

    /// The probability of drops or marks in the classic queue (p_C).
    var classic: Double { base * base }
    /// The probability of marks in the L4S queue that the classic queue causes (p_CL).
    var coupled: Double { min(base * Self.couplingFactor, 1) }
    /// True if marks alone can no longer control the queue.
    var isOverloaded: Bool { base * Self.couplingFactor >= 1 }

    /// Updates the base probability with the delay of the longer-waiting queue.
    mutating func update(delay: Duration) {
        let delay = delay.seconds
        let change =
            Self.integralGain * (delay - Self.target.seconds)
            + Self.proportionalGain * (delay - previousDelay)
        base = min(max(base + change, 0), 1)
        previousDelay = delay
    }

    /// Returns the probability of marks in the L4S queue that its own delay causes (p'_L).
    func native(delay: Duration) -> Double {
        guard delay > Self.stepMinimum else { return 0 }
        return min((delay - Self.stepMinimum).seconds / Self.stepRange.seconds, 1)
    }
}

/// Two queues, for L4S and for classic traffic. Their marks are coupled so that flows of both kinds get similar rates
/// (RFC 9332, appendix A). The scheduler is a weighted round robin that serves L4S first and does not starve the
/// classic queue.
struct DualPI2<Packet> {
    private var control = DualPI2Control()
    private var lowLatency = PacketFIFO<Packet>()
    private var classic = PacketFIFO<Packet>()
    private var nextUpdate: MonotonicInstant
    /// The bytes that the classic queue may send before the L4S queue.
    private var classicCredit = 0.0
    /// Sums that make marks deterministic instead of random (the RFC's `recur`): the probabilities of a queue's
    /// packets.
    private var lowLatencyCount = 0.0
    private var classicCount = 0.0

    init(start: MonotonicInstant) {
        nextUpdate = start + DualPI2Control.updateInterval
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
                    let weight = DualPI2Control.classicWeight
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
            nextUpdate += DualPI2Control.updateInterval
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

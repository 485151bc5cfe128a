import H264
import MediaCore
import RTP

/// A stream of video on its way in, by the code of the relay: jitter buffer, negative acknowledgements, depacketizer,
/// and requests for keyframes where a loss was not repaired.
///
/// A class, so that looking at it through its flow copies nothing.
final class ReceivedVideoStream {
    private var jitterBuffer: JitterBuffer
    private var depacketizer = H264Depacketizer()
    private var keyframes = KeyframeRequester()
    /// Whether frames are useless without those that they refer to.
    private let needsReferences: Bool
    private var lastSequence: Int64?
    /// Whether a frame is missing that those which come refer to.
    private var isBroken: Bool

    init(repairs: Bool, needsReferences: Bool) {
        jitterBuffer = JitterBuffer(configuration: repairs ? JitterBuffer.Configuration() : .withoutRetransmission)
        self.needsReferences = needsReferences
        isBroken = needsReferences
    }

    /// Takes a packet that came; returns whether it is one that was still waited for.
    func insert(_ packet: RTPPacket, now: MonotonicInstant) -> Bool {
        switch jitterBuffer.insert(packet, now: now) {
        case .inserted, .overflow: true
        case .duplicate, .late: false
        }
    }

    /// Hands out the frames that are whole, or whose rest was given up, in their order.
    func deliver(now: MonotonicInstant, _ body: (_ unit: AccessUnit, _ isUsable: Bool) -> Void) {
        while let received = jitterBuffer.popNext(now: now) {
            if let lastSequence, received.sequence != lastSequence + 1 { breakReferences(now: now) }
            lastSequence = received.sequence
            let units = depacketizer.append(
                payload: received.packet.payload, timestamp: received.packet.timestamp,
                marker: received.packet.marker, sequence: received.sequence)
            for unit in units { body(unit, isUsable(unit, now: now)) }
        }
    }

    private func isUsable(_ unit: AccessUnit, now: MonotonicInstant) -> Bool {
        guard needsReferences else { return true }
        if unit.isDamaged {
            breakReferences(now: now)
        } else if unit.isIDR {
            isBroken = false
            keyframes.keyframeArrived()
        } else if isBroken {
            keyframes.need(now: now)
        }
        return !isBroken
    }

    private func breakReferences(now: MonotonicInstant) {
        guard needsReferences else { return }
        isBroken = true
        keyframes.need(now: now)
    }

    /// The sequence numbers to ask for now.
    func nacksDue(now: MonotonicInstant) -> [UInt16] { jitterBuffer.nacksDue(now: now) }

    /// Whether to ask for a keyframe now.
    func takeKeyframeRequest(now: MonotonicInstant) -> Bool {
        needsReferences && keyframes.takeRequest(roundTripTime: .milliseconds(100), now: now)
    }

    /// When to look again without a packet.
    var nextDeadline: MonotonicInstant {
        min(jitterBuffer.readNextDeadline() ?? .distantFuture, keyframes.nextDeadline)
    }
}

extension JitterBuffer {
    /// `nextDeadline`, read in place: a getter of a class's property would copy the buffer first.
    fileprivate mutating func readNextDeadline() -> MonotonicInstant? { nextDeadline }
}

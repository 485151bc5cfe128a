import CongestionControl
import MediaCore
import NIOCore

/// Distinguishes lost packets from late ones: a packet is lost when another one that was sent later by `length` has
/// arrived (draft-ietf-ccwg-rfc8298bis-screamv2, "Detecting Lost Data Units"; the idea of RFC 8985). Also computes the
/// loss rate.
struct ReorderingWindow: Sendable {
    private let length: Duration
    private let rateThreshold: Double
    private var missing = CircularBuffer<(sequence: Int64, sendTime: MonotonicInstant)>()
    private var newestArrived: MonotonicInstant?
    /// The share of lost packets, averaged over two round trips or four losses at the threshold (loss_rate).
    private(set) var lossRate = 0.0

    init(length: Duration, rateThreshold: Double) {
        self.length = length
        self.rateThreshold = rateThreshold
    }

    /// Adds a packet's result from a report.
    ///
    /// - Parameter windowPackets: The window's size in packets of the largest size.
    mutating func add(_ result: PacketResult, windowPackets: Double) {
        let packet = result.sent
        guard result.receiveTime != nil else {
            // A receiver that reports all packets missing must not make this array grow without limit.
            if missing.count >= TransportFeedbackAdapter.maximumPacketCount { missing.removeFirst() }
            missing.append((packet.transportSequence, packet.sendTime))
            return
        }
        if result.wasReportedMissing { missing.removeAll { $0.sequence == packet.transportSequence } }
        newestArrived = max(newestArrived ?? packet.sendTime, packet.sendTime)
        average(isLost: false, windowPackets)
    }

    /// Returns the number of packets that were finally lost since the last call.
    mutating func takeLost(windowPackets: Double) -> Int {
        guard let newestArrived else { return 0 }
        var count = 0
        while let first = missing.first, first.sendTime + length < newestArrived {
            missing.removeFirst()
            average(isLost: true, windowPackets)
            count += 1
        }
        return count
    }

    private mutating func average(isLost: Bool, _ windowPackets: Double) {
        let gain = min(rateThreshold / 4, 0.5 / max(windowPackets, 1))
        lossRate += gain * ((isLost ? 1 : 0) - lossRate)
    }
}

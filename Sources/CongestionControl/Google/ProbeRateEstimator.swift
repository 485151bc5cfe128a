import MediaCore

/// Estimates the path's rate from the arrivals of a probe's packets (libwebrtc's `ProbeBitrateEstimator`).
struct ProbeRateEstimator: Sendable {
    /// The part of a cluster that must have arrived, in packets and in bytes.
    static let minimumReceivedRatio = 0.8
    static let maximumInterval = Duration.seconds(1)
    /// The ratio of arrival to sending rate above which packets were held and released together.
    static let maximumReceiveRatio = 2.0
    /// Arriving slower than this part of the sending rate, the burst filled the path.
    static let unsaturatedRatio = 0.9
    static let saturatedUtilization = 0.95
    static let history = Duration.seconds(1)
    static let maximumClusterCount = 16

    fileprivate struct Cluster {
        var id: Int
        var minimumPackets: Double
        var minimumBytes: Double
        var packets = 0
        var size = DataSize.zero
        var firstSend = MonotonicInstant.distantFuture
        var lastSend = MonotonicInstant(nanoseconds: .min)
        var lastSentSize = DataSize.zero
        var firstReceive = MonotonicInstant.distantFuture
        var firstReceivedSize = DataSize.zero
        var lastReceive = MonotonicInstant(nanoseconds: .min)
    }

    private var clusters: [Cluster] = []

    /// A cluster that the pacer was asked to send.
    mutating func expect(_ probe: ProbeCluster) {
        if clusters.count == Self.maximumClusterCount { clusters.removeFirst() }
        clusters.append(
            Cluster(
                id: probe.id, minimumPackets: Double(probe.minimumPackets) * Self.minimumReceivedRatio,
                minimumBytes: Double(probe.minimumSize.bytes) * Self.minimumReceivedRatio))
    }

    /// A packet arrived; the estimate of its cluster as soon as enough of it did.
    mutating func add(_ packet: SentPacket, receiveTime: MonotonicInstant) -> BitRate? {
        clusters.removeAll { $0.packets > 0 && receiveTime - $0.lastReceive > Self.history }
        guard let index = clusters.firstIndex(where: { $0.id == packet.probeClusterID }) else { return nil }
        clusters[index].add(packet, receiveTime: receiveTime)
        return clusters[index].rate
    }
}

extension ProbeRateEstimator.Cluster {
    fileprivate mutating func add(_ packet: SentPacket, receiveTime: MonotonicInstant) {
        if packet.sendTime < firstSend { firstSend = packet.sendTime }
        if packet.sendTime > lastSend {
            lastSend = packet.sendTime
            lastSentSize = packet.size
        }
        if receiveTime < firstReceive {
            firstReceive = receiveTime
            firstReceivedSize = packet.size
        }
        lastReceive = max(lastReceive, receiveTime)
        size += packet.size
        packets += 1
    }

    fileprivate var rate: BitRate? {
        guard Double(packets) >= minimumPackets, Double(size.bytes) >= minimumBytes else { return nil }
        let sendInterval = lastSend - firstSend
        let receiveInterval = lastReceive - firstReceive
        guard
            sendInterval > .zero, sendInterval <= ProbeRateEstimator.maximumInterval, receiveInterval > .zero,
            receiveInterval <= ProbeRateEstimator.maximumInterval
        else { return nil }
        // An interval lies between packets: the last sent does not count for sending, the first received not for
        // receiving.
        let sendRate = BitRate(size - lastSentSize, over: sendInterval)
        let receiveRate = BitRate(size - firstReceivedSize, over: receiveInterval)
        guard sendRate > .zero, receiveRate <= sendRate * ProbeRateEstimator.maximumReceiveRatio else { return nil }
        return receiveRate < sendRate * ProbeRateEstimator.unsaturatedRatio
            ? receiveRate * ProbeRateEstimator.saturatedUtilization : min(sendRate, receiveRate)
    }
}

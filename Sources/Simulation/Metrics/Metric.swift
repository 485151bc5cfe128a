/// The measured figures of a flow or of a whole scenario. The raw values are the names in reports. They are stable and
/// include the unit.
public enum Metric: String, CaseIterable, Hashable, Sendable {
    // Rates
    /// The usable rate: the capacity of the path, limited to the source's highest rate, in bins of 200 ms.
    case usable = "cap8_mbps"
    /// The rate of media that arrived.
    case goodput = "goodput_mbps"
    /// The rate that left the sender, including padding and retransmissions.
    case sendRate = "send_mbps"
    /// The rate of all packets that arrived.
    case receiveRate = "recv_mbps"
    /// Goodput divided by the usable rate.
    case utilization = "util_pct"
    /// The mean difference between the rates of consecutive seconds, divided by the mean rate.
    case rateVariation = "rate_variation_pct"
    /// The swings of the send rate, from second to second, between 125 % and 75 % of its mean over the surrounding ten
    /// seconds.
    case oscillations = "oscillations_per_min"
    /// The packets and bytes of all kinds, sent and received, padding included.
    case packetsSent = "packets_sent"
    case packetsReceived = "packets_received"
    case bytesSent = "bytes_sent"
    case bytesReceived = "bytes_received"

    // The network
    /// The time in the queues of the path, transmission included, of packets that arrived.
    case queueingDelayMean = "qdelay_mean_ms"
    case queueingDelayMedian = "qdelay_p50_ms"
    case queueingDelay95 = "qdelay_p95_ms"
    case queueingDelay99 = "qdelay_p99_ms"
    /// The time from sender to receiver, of packets that arrived.
    case packetDelayMean = "packet_delay_mean_ms"
    case packetDelayMedian = "packet_delay_p50_ms"
    case packetDelay95 = "packet_delay_p95_ms"
    case packetDelay99 = "packet_delay_p99_ms"
    /// The share of packets that did not arrive.
    case loss = "loss_pct"
    /// The share of frames' packets that never arrived, in spite of repair.
    case residualLoss = "residual_loss_pct"
    /// The share of frames' packets that arrived over 200 ms after the capture: too late to be shown.
    case discarded = "discarded_pct"
    /// The share of packets that arrived with a congestion mark.
    case marked = "marked_pct"

    // Frames
    /// The time from capture to the arrival of a frame's last packet, of complete frames.
    case frameDelayMedian = "frame_delay_p50_ms"
    case frameDelay95 = "frame_delay_p95_ms"
    case frameDelay99 = "frame_delay_p99_ms"
    /// The share of frames with a missing packet.
    case framesLost = "frames_lost_pct"
    /// The share of frames that the sender skipped.
    case framesSkipped = "frames_skipped_pct"
    /// The share of frames that were complete over 200 ms after the capture.
    case framesLate = "frames_late_pct"
    /// The share of frames that were late by over 200 ms, incomplete, or skipped.
    case framesLateOrLost = "frames_over200ms_or_lost_pct"
    /// The share of time in gaps of over 183 ms between complete frames; then the number of gaps and their sum.
    case freeze = "freeze_pct"
    case freezeCount = "freeze_count"
    case freezeTime = "freeze_s"

    /// The similarity of the luma of received pictures to their sources, if real pictures are sent.
    case pictureNoise = "psnr_db"
    case pictureSimilarity = "ssim"

    // Dynamics
    /// The first time since the flow began at which the goodput of a second reached 90 % of the usable rate.
    case ramp = "ramp90_s"
    /// The excess of the send rate over the usable rate in the worst second of the ten seconds after the usable rate
    /// halved.
    case overshoot = "overshoot_pct"
    /// The time until the send rate was below 110 % of the usable rate after this halved.
    case settling = "settling_s"
    /// The unused part of the usable rate in the worst second, 1 to 10 s after the usable rate halved.
    case undershoot = "drop_undershoot_pct"
    /// The unused part of the usable rate in the 5 s after it doubled.
    case recoveryDeficit = "recovery_deficit_pct"
    /// The time until the goodput of a second reached 90 % of the usable rate after this doubled.
    case recovery = "recovery_s"

    // Costs and company
    /// The share of padding in the sent bytes.
    case padding = "padding_pct"
    /// The share of retransmissions in the sent bytes.
    case retransmitted = "retransmitted_pct"
    /// The ratio of feedback to arrived media.
    case feedback = "feedback_pct"
    /// The flow's share of all data that arrived over the same links while it was active.
    case share = "share_pct"
    /// The ratio of the rate of media flows to an equal share, beside TCP flows on the same bottleneck.
    case shareAgainstTCP = "share_vs_tcp_pct"
    /// Jain's fairness index of the goodput of media flows in one direction; the mean over windows of 1, 5 and 20 s.
    case fairness1 = "jain_1s"
    case fairness5 = "jain_5s"
    case fairness20 = "jain_20s"
    /// The time after the beginning of the last flow until the index over 5 s reached 0.9 and stayed there for 5 s.
    case convergence = "convergence_s"

    /// The score of utilisation, p95 queueing delay and frames in time, from 0 to 100; see `FlowScore`.
    case score
}

extension Metric {
    /// True if the value of several flows together is their sum rather than their mean.
    public var isSum: Bool {
        switch self {
        case .packetsSent, .packetsReceived, .bytesSent, .bytesReceived: true
        default: false
        }
    }
}

/// The values of metrics. A metric that does not apply has no value.
public struct MetricValues: Hashable, Sendable {
    private var values: [Metric: Double] = [:]

    public init() {}

    public subscript(metric: Metric) -> Double? {
        get { values[metric] }
        // A value that is not finite (a ratio to zero) counts as no value.
        set { values[metric] = newValue.flatMap { $0.isFinite ? $0 : nil } }
    }
}

extension MetricValues: Codable {
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(_ metric: Metric) { stringValue = metric.rawValue }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for metric in Metric.allCases {
            values[metric] = try container.decodeIfPresent(Double.self, forKey: Key(metric))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for metric in Metric.allCases {
            try container.encodeIfPresent(values[metric], forKey: Key(metric))
        }
    }
}

extension MetricValues {
    /// Returns the mean of each metric over all entries that have it.
    public static func mean(of all: [MetricValues]) -> MetricValues {
        var mean = MetricValues()
        for metric in Metric.allCases {
            let values = all.compactMap { $0[metric] }
            if !values.isEmpty { mean[metric] = values.reduce(0, +) / Double(values.count) }
        }
        return mean
    }
}

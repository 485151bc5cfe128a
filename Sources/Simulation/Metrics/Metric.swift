/// What is measured of a flow or of a whole scenario. The raw values are the names in reports; they are stable, and
/// tell the unit.
public enum Metric: String, CaseIterable, Hashable, Sendable {
    // Rates
    /// What was usable: the capacity of the path, at most what the source may send.
    case usable = "cap8_mbps"
    /// Media that arrived.
    case goodput = "goodput_mbps"
    /// What left the sender, padding and retransmissions included.
    case sendRate = "send_mbps"
    /// All that arrived.
    case receiveRate = "recv_mbps"
    /// Goodput over what was usable.
    case utilization = "util_pct"
    /// How much the rate of a second differs from that of the one before, on average, over the mean rate.
    case rateVariation = "rate_variation_pct"
    /// Swings of the rate sent, from second to second, between 125 % and 75 % of its mean over the ten seconds around.
    case oscillations = "oscillations_per_min"
    /// Packets and bytes, of all kinds.
    case packetsSent = "packets_sent"
    case packetsReceived = "packets_received"
    case bytesSent = "bytes_sent"
    case bytesReceived = "bytes_received"

    // The network
    /// Time in the queues of the path, of packets that arrived.
    case queueingDelayMean = "qdelay_mean_ms"
    case queueingDelayMedian = "qdelay_p50_ms"
    case queueingDelay95 = "qdelay_p95_ms"
    case queueingDelay99 = "qdelay_p99_ms"
    /// Time from sender to receiver, of packets that arrived.
    case packetDelayMean = "packet_delay_mean_ms"
    case packetDelayMedian = "packet_delay_p50_ms"
    case packetDelay95 = "packet_delay_p95_ms"
    case packetDelay99 = "packet_delay_p99_ms"
    /// Packets that did not arrive.
    case loss = "loss_pct"
    /// Packets of frames that never came, repair included.
    case residualLoss = "residual_loss_pct"
    /// Packets of frames that came over 200 ms after the capture: too late to be played.
    case discarded = "discarded_pct"
    /// Packets that arrived with a mark of congestion.
    case marked = "marked_pct"

    // Frames
    /// From capture to the arrival of a frame's last packet, of complete frames.
    case frameDelayMedian = "frame_delay_p50_ms"
    case frameDelay95 = "frame_delay_p95_ms"
    case frameDelay99 = "frame_delay_p99_ms"
    /// Frames of which a packet is missing.
    case framesLost = "frames_lost_pct"
    /// Frames that the sender skipped.
    case framesSkipped = "frames_skipped_pct"
    /// Frames that were complete over 200 ms after the capture.
    case framesLate = "frames_late_pct"
    /// Frames late by over 200 ms, incomplete, or skipped.
    case framesLateOrLost = "frames_over200ms_or_lost_pct"
    /// Share of time in gaps of over 183 ms between complete frames; how many; how long in all.
    case freeze = "freeze_pct"
    case freezeCount = "freeze_count"
    case freezeTime = "freeze_s"

    /// Of the luma of received pictures against their sources, where real pictures are sent.
    case pictureNoise = "psnr_db"
    case pictureSimilarity = "ssim"

    // Dynamics
    /// The first time at which the goodput of a second reached 90 % of what was usable, since the flow began.
    case ramp = "ramp90_s"
    /// How much more than usable was sent in the worst second of the ten after what was usable halved.
    case overshoot = "overshoot_pct"
    /// How long until the rate sent was below 110 % of what was usable, after that halved.
    case settling = "settling_s"
    /// How much of what was usable was missed in the worst second, 1 to 10 s after it halved.
    case undershoot = "drop_undershoot_pct"
    /// How much of what was usable was missed in the 5 s after it doubled.
    case recoveryDeficit = "recovery_deficit_pct"
    /// How long until the goodput of a second reached 90 % of what was usable, after that doubled.
    case recovery = "recovery_s"

    // Costs and company
    /// Padding in what was sent.
    case padding = "padding_pct"
    /// Packets sent again, in what was sent.
    case retransmitted = "retransmitted_pct"
    /// Feedback over media that arrived.
    case feedback = "feedback_pct"
    /// The flow's part of all that arrived over the same links while it was active.
    case share = "share_pct"
    /// The media flows' part of an equal share, beside TCP flows.
    case shareAgainstTCP = "share_vs_tcp_pct"
    /// Jain's index of the goodput of media flows in one direction, over windows of 1, 5 and 20 s; the mean.
    case fairness1 = "jain_1s"
    case fairness5 = "jain_5s"
    case fairness20 = "jain_20s"
    /// How long after the last flow began until the index over 5 s was 0.9 and stayed so for 5 s.
    case convergence = "convergence_s"

    /// Utilisation, p95 queueing delay and frames in time in one figure from 0 to 100: see `FlowScore`.
    case score
}

extension Metric {
    /// Whether the value of several flows together is the sum of theirs, not the mean.
    public var isSum: Bool {
        switch self {
        case .packetsSent, .packetsReceived, .bytesSent, .bytesReceived: true
        default: false
        }
    }
}

/// Values of metrics; what does not apply has none.
public struct MetricValues: Hashable, Sendable {
    private var values: [Metric: Double] = [:]

    public init() {}

    public subscript(metric: Metric) -> Double? {
        get { values[metric] }
        // What is not a number (a part of nothing) is no value.
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

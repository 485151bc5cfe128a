import MediaCore

/// The packets of a flow in the measured time: their number, bytes, delays, losses and marks.
struct TrafficCount {
    /// The bounds of the window; `judgedEnd` excludes the last packets, which are still under way at the end.
    let start: MonotonicInstant
    let end: MonotonicInstant
    let judgedEnd: MonotonicInstant
    private var sentPackets = 0
    private var receivedPackets = 0
    private var sentSize = DataSize.zero
    private var receivedSize = DataSize.zero
    private var queueingDelays = DelayHistogram()
    private var packetDelays = DelayHistogram()
    private var judgedSentPackets = 0
    private var judgedReceivedPackets = 0
    private var markedPackets = 0

    init(setting: MediaFlowRecording.Setting) {
        start = .zero + (setting.window?.lowerBound ?? .zero)
        end = .zero + (setting.window?.upperBound ?? setting.duration)
        judgedEnd = min(end, .zero + setting.duration - .seconds(1))
    }

    /// Returns true if a time is within the window.
    func measures(_ time: MonotonicInstant) -> Bool { time >= start && time <= end }

    mutating func sent(_ size: DataSize, now: MonotonicInstant) {
        if now >= start, now <= judgedEnd { judgedSentPackets += 1 }
        guard measures(now) else { return }
        sentPackets += 1
        sentSize += size
    }

    mutating func received(
        _ size: DataSize, sendTime: MonotonicInstant, queueingDelay: Duration, isMarked: Bool, now: MonotonicInstant
    ) {
        if sendTime >= start, sendTime <= judgedEnd { judgedReceivedPackets += 1 }
        guard measures(now) else { return }
        receivedPackets += 1
        receivedSize += size
        queueingDelays.add(queueingDelay)
        packetDelays.add(now - sendTime)
        if isMarked { markedPackets += 1 }
    }

    var queueingDelayPercentiles: [Double] { queueingDelays.percentiles }

    func addMetrics(to values: inout MetricValues) {
        values[.packetsSent] = Double(sentPackets)
        values[.packetsReceived] = Double(receivedPackets)
        values[.bytesSent] = Double(sentSize.bytes)
        values[.bytesReceived] = Double(receivedSize.bytes)
        let (queueing, packets) = (queueingDelays.distribution, packetDelays.distribution)
        values[.queueingDelayMean] = queueing.mean.milliseconds
        values[.queueingDelayMedian] = queueing.median.milliseconds
        values[.queueingDelay95] = queueing.percentile95.milliseconds
        values[.queueingDelay99] = queueing.percentile99.milliseconds
        values[.packetDelayMean] = packets.mean.milliseconds
        values[.packetDelayMedian] = packets.median.milliseconds
        values[.packetDelay95] = packets.percentile95.milliseconds
        values[.packetDelay99] = packets.percentile99.milliseconds
        if judgedSentPackets > 0 {
            values[.loss] = (1 - Double(judgedReceivedPackets) / Double(judgedSentPackets)) * 100
        }
        if markedPackets > 0 { values[.marked] = Double(markedPackets) / Double(queueingDelays.count) * 100 }
    }
}

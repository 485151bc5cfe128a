import MediaCore
import RTP

/// Collects the figures of a flow without media.
struct TrafficRecording {
    private let setting: MediaFlowRecording.Setting
    private(set) var samples: [FlowSample] = []
    private var queueingDelays = DelayHistogram()
    private var packetDelays = DelayHistogram()
    private var traffic = TrafficCount()
    private var sentSinceSample = DataSize.zero
    private var receivedSinceSample = DataSize.zero
    private var usefulSinceSample = DataSize.zero
    private var judgedSent = 0
    private var judgedReceived = 0
    private var markedCount = 0
    private let windowStart: MonotonicInstant
    private let windowEnd: MonotonicInstant
    private let judgedEnd: MonotonicInstant

    init(setting: MediaFlowRecording.Setting) {
        self.setting = setting
        windowStart = .zero + (setting.window?.lowerBound ?? .zero)
        windowEnd = .zero + (setting.window?.upperBound ?? setting.duration)
        judgedEnd = min(windowEnd, .zero + setting.duration - .seconds(1))
    }

    mutating func sent(_ packet: SimulatedPacket, now: MonotonicInstant) {
        sentSinceSample += packet.size
        if now >= windowStart, now <= windowEnd { traffic.sent(packet.size) }
        if now >= windowStart, now <= judgedEnd { judgedSent += 1 }
    }

    /// Records an arrived packet, with its amount of useful data.
    mutating func received(_ packet: SimulatedPacket, useful: DataSize, now: MonotonicInstant) {
        receivedSinceSample += packet.size
        usefulSinceSample += useful
        if packet.sendTime >= windowStart, packet.sendTime <= judgedEnd { judgedReceived += 1 }
        guard now >= windowStart, now <= windowEnd else { return }
        queueingDelays.add(packet.queueingDelay)
        packetDelays.add(now - packet.sendTime)
        traffic.received(packet.size)
        if packet.ecn == .congestionExperienced { markedCount += 1 }
    }

    mutating func sample(flow: Int, isActive: Bool, target: Double?, _ network: SimulatedNetwork) {
        let path = network.path(of: flow).forward
        let time = network.now - MonotonicInstant.zero
        let from = Duration.seconds(clamping: samples.last?.time ?? 0)
        let interval = time - from
        samples.append(
            FlowSample(
                time: time.seconds, target: target,
                sendRate: BitRate(sentSinceSample, over: interval).kilobitsPerSecond / 1000,
                receiveRate: BitRate(receivedSinceSample, over: interval).kilobitsPerSecond / 1000,
                goodput: BitRate(usefulSinceSample, over: interval).kilobitsPerSecond / 1000,
                capacity: network.capacity(of: path, from: from, to: time)
                    .map { BitRate($0, over: interval).kilobitsPerSecond / 1000 },
                queueDelay: network.queueDelay(of: path).milliseconds, senderDelay: 0, isActive: isActive))
        sentSinceSample = .zero
        receivedSinceSample = .zero
        usefulSinceSample = .zero
    }

    /// The flow's figures, and the percentiles of its queueing delays.
    var metrics: (values: MetricValues, queueingDelayPercentiles: [Double]) {
        var values = MetricValues()
        FlowSeries(
            samples: samples, window: ((windowStart - .zero).seconds, (windowEnd - .zero).seconds),
            sampleInterval: setting.sampleInterval, maximum: setting.maximum
        ).addMetrics(to: &values)
        traffic.addMetrics(to: &values)
        values.addDelays(queueing: queueingDelays.distribution, packets: packetDelays.distribution)
        if judgedSent > 0 { values[.loss] = (1 - Double(judgedReceived) / Double(judgedSent)) * 100 }
        if markedCount > 0 { values[.marked] = Double(markedCount) / Double(queueingDelays.count) * 100 }
        return (values, queueingDelays.percentiles)
    }
}

import MediaCore
import RTP

/// Collects the figures of a flow without media.
struct TrafficRecording {
    private let setting: MediaFlowRecording.Setting
    private(set) var samples: [FlowSample] = []
    private var traffic: TrafficCount
    private var sentSinceSample = DataSize.zero
    private var receivedSinceSample = DataSize.zero
    private var usefulSinceSample = DataSize.zero

    init(setting: MediaFlowRecording.Setting) {
        self.setting = setting
        traffic = TrafficCount(setting: setting)
    }

    mutating func sent(_ packet: SimulatedPacket, now: MonotonicInstant) {
        sentSinceSample += packet.size
        traffic.sent(packet.size, now: now)
    }

    /// Records an arrived packet, with its amount of useful data.
    mutating func received(_ packet: SimulatedPacket, useful: DataSize, now: MonotonicInstant) {
        receivedSinceSample += packet.size
        usefulSinceSample += useful
        traffic.received(
            packet.size, sendTime: packet.sendTime, queueingDelay: packet.queueingDelay,
            isMarked: packet.ecn == .congestionExperienced, now: now)
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
            samples: samples, window: ((traffic.start - .zero).seconds, (traffic.end - .zero).seconds),
            sampleInterval: setting.sampleInterval, maximum: setting.maximum
        ).addMetrics(to: &values)
        traffic.addMetrics(to: &values)
        return (values, traffic.queueingDelayPercentiles)
    }
}

import CongestionControl
import LinkEmulation
import MediaCore

/// Collects the figures of a simulated flow while it runs.
struct MediaFlowRecording {
    /// The properties of the simulation that the figures need.
    struct Setting {
        var duration: Duration
        var sampleInterval: Duration
        /// The highest rate of the source.
        var maximum: BitRate
        /// The scripted rates of the bottleneck.
        var steps: [LinkRate.Step] = []
        /// The time at which the flow began.
        var start = Duration.zero
        /// The measured time; nil for the whole duration.
        var window: Range<Duration>?
    }

    /// The delay after its capture from which a frame is late.
    static let lateness = Duration.milliseconds(200)
    /// The gap between complete frames from which it is a freeze.
    static let freezeGap = Duration.milliseconds(183)

    private struct Frame {
        var captured: MonotonicInstant
        /// The packets that were sent; `missing` are those of them that have not arrived.
        var packetCount = 0
        var missing = 0
        var completed: MonotonicInstant?
    }

    private let setting: Setting

    private(set) var samples: [MediaFlowSample] = []
    private var frames: [Frame] = []
    private var skippedFrames = 0
    private var sentSize = DataSize.zero
    private var paddingSize = DataSize.zero
    private var repeatedSize = DataSize.zero
    private var mediaReceivedSize = DataSize.zero
    private var feedbackSize = DataSize.zero
    private var sentSinceSample = DataSize.zero
    private var receivedSinceSample = DataSize.zero
    private var mediaReceivedSinceSample = DataSize.zero
    private var traffic: TrafficCount
    private var framePackets = 0
    private var latePackets = 0
    private(set) var lastSample = Duration.zero

    init(setting: Setting) {
        self.setting = setting
        traffic = TrafficCount(setting: setting)
    }

    var nextFrame: Int { frames.count }

    /// Records that the frame `nextFrame` was made.
    mutating func frameEncoded(now: MonotonicInstant) {
        frames.append(Frame(captured: now))
    }

    mutating func frameSkipped(now: MonotonicInstant) {
        if isJudged(now) { skippedFrames += 1 }
    }

    /// Records a sent packet. `frame` is the frame to which it adds data; nil if there is none.
    mutating func packetSent(size: DataSize, frame: Int?, kind: SimulatedMediaPacket.Role, now: MonotonicInstant) {
        sentSinceSample += size
        if let frame, frames.indices.contains(frame) {
            frames[frame].packetCount += 1
            frames[frame].missing += 1
        }
        traffic.sent(size, now: now)
        guard traffic.measures(now) else { return }
        sentSize += size
        switch kind {
        case .media: break
        case .padding: paddingSize += size
        case .retransmission: repeatedSize += size
        }
    }

    /// Records an arrived packet and its media.
    mutating func packetReceived(
        size: DataSize, media: ReceivedMedia, sendTime: MonotonicInstant, queueingDelay: Duration, isMarked: Bool,
        now: MonotonicInstant
    ) {
        traffic.received(size, sendTime: sendTime, queueingDelay: queueingDelay, isMarked: isMarked, now: now)
        receivedSinceSample += size
        if case .nothing = media { return }
        mediaReceivedSinceSample += size
        if traffic.measures(now) { mediaReceivedSize += size }
        guard case .frame(let frame) = media, frames.indices.contains(frame) else { return }
        frames[frame].missing -= 1
        if traffic.measures(now) {
            framePackets += 1
            if now - frames[frame].captured > Self.lateness { latePackets += 1 }
        }
    }

    /// Records a frame that the receiver delivered after all its references. It counts if it is complete.
    mutating func frameDelivered(_ frame: Int, now: MonotonicInstant) {
        guard frames.indices.contains(frame), frames[frame].missing == 0 else { return }
        frames[frame].completed = now
    }

    mutating func feedbackSent(size: DataSize, now: MonotonicInstant) {
        if traffic.measures(now) { feedbackSize += size }
    }

    mutating func sample(
        controller: ControllerSnapshot, capacity: DataSize?, isActive: Bool, queueDelay: Duration,
        pacerDelay: Duration, now: MonotonicInstant
    ) {
        let time = now - MonotonicInstant.zero
        let interval = time - lastSample
        samples.append(
            MediaFlowSample(
                time: time, controller: controller, sendRate: BitRate(sentSinceSample, over: interval),
                receiveRate: BitRate(receivedSinceSample, over: interval),
                goodput: BitRate(mediaReceivedSinceSample, over: interval),
                capacity: capacity.map { BitRate($0, over: interval) }, queueDelay: queueDelay,
                pacerDelay: pacerDelay, isActive: isActive))
        sentSinceSample = .zero
        receivedSinceSample = .zero
        mediaReceivedSinceSample = .zero
        lastSample = time
    }

    func report(keyframeCount: Int) -> MediaFlowReport {
        let series = series
        var metrics = MetricValues()
        series.addMetrics(to: &metrics)
        traffic.addMetrics(to: &metrics)
        let frameDelays = addFrames(to: &metrics)
        addPackets(to: &metrics)
        metrics[.score] = FlowScore.score(metrics)
        return MediaFlowReport(
            samples: samples, metrics: metrics, queueingDelayPercentiles: traffic.queueingDelayPercentiles,
            frameDelayPercentiles: DelayDistribution.percentiles(sorted: frameDelays),
            reactions: series.reactions(to: setting.steps), keyframeCount: keyframeCount)
    }

    /// The samples with the names and the units of all reports.
    var flowSamples: [FlowSample] {
        samples.map { sample in
            FlowSample(
                time: sample.time.seconds, target: sample.controller.targetBitRate.kilobitsPerSecond / 1000,
                sendRate: sample.sendRate.kilobitsPerSecond / 1000,
                receiveRate: sample.receiveRate.kilobitsPerSecond / 1000,
                goodput: sample.goodput.kilobitsPerSecond / 1000,
                capacity: sample.capacity.map { $0.kilobitsPerSecond / 1000 },
                queueDelay: sample.queueDelay.milliseconds, senderDelay: sample.pacerDelay.milliseconds,
                isActive: sample.isActive)
        }
    }

    private var series: FlowSeries {
        FlowSeries(
            samples: flowSamples, window: ((traffic.start - .zero).seconds, (traffic.end - .zero).seconds),
            sampleInterval: setting.sampleInterval, maximum: setting.maximum)
    }

    private func addPackets(to values: inout MetricValues) {
        values[.residualLoss] = residualLoss.map { $0 * 100 }
        if framePackets > 0 { values[.discarded] = Double(latePackets) / Double(framePackets) * 100 }
        values[.padding] = sentSize > .zero ? Double(paddingSize.bytes) / Double(sentSize.bytes) * 100 : 0
        if sentSize > .zero { values[.retransmitted] = Double(repeatedSize.bytes) / Double(sentSize.bytes) * 100 }
        if mediaReceivedSize > .zero {
            values[.feedback] = Double(feedbackSize.bytes) / Double(mediaReceivedSize.bytes) * 100
        }
    }

    /// Returns true if a frame of this time is judged. Frames of the last moments are still under way and are not.
    private func isJudged(_ captured: MonotonicInstant) -> Bool {
        captured >= traffic.start && captured < traffic.judgedEnd
    }

    private var judgedFrames: [Frame] { frames.filter { isJudged($0.captured) } }

    /// The share of the frames' packets that never arrived, in spite of repair; nil without frames.
    private var residualLoss: Double? {
        let judged = judgedFrames
        let packets = judged.reduce(0) { $0 + $1.packetCount }
        guard packets > 0 else { return nil }
        return Double(judged.reduce(0) { $0 + max($1.missing, 0) }) / Double(packets)
    }

    /// The seconds of the window in which the flow existed.
    private var measuredDuration: Double {
        max((traffic.end - max(traffic.start, .zero + setting.start)).seconds, 0.001)
    }

    /// Adds the figures of frames, if there are any; returns the delays of complete frames in nanoseconds, ascending.
    private func addFrames(to values: inout MetricValues) -> [Int64] {
        let judged = judgedFrames
        let total = judged.count + skippedFrames
        guard total > 0 else { return [] }
        let delays = judged.compactMap { frame in frame.completed.map { ($0 - frame.captured).nanoseconds } }.sorted()
        if !delays.isEmpty {
            let delay = DelayDistribution(sorted: delays)
            values[.frameDelayMedian] = delay.median.milliseconds
            values[.frameDelay95] = delay.percentile95.milliseconds
            values[.frameDelay99] = delay.percentile99.milliseconds
        }
        func share(_ count: Int) -> Double { Double(count) / Double(total) }
        let lateOrLost = share(total - delays.count { $0 <= Self.lateness.nanoseconds })
        let (skipped, lost) = (share(skippedFrames), share(judged.count - delays.count))
        values[.framesLost] = lost * 100
        values[.framesSkipped] = skipped * 100
        values[.framesLateOrLost] = lateOrLost * 100
        values[.framesLate] = (lateOrLost - lost - skipped) * 100
        let freezes = freezes(judged)
        let freezeShare = freezes.seconds / measuredDuration
        values[.freeze] = freezeShare * 100
        values[.freezeCount] = Double(freezes.count)
        values[.freezeTime] = freezeShare * measuredDuration
        return delays
    }

    /// Returns the number of freezes, which are gaps between complete frames, and their sum in seconds. A gap in which
    /// the sender paused is not a freeze. A final gap, after which no frame arrives, is one.
    private func freezes(_ frames: [Frame]) -> (count: Int, seconds: Double) {
        var completed = frames.compactMap(\.completed).sorted()
        if !completed.isEmpty { completed.append(max(traffic.judgedEnd, completed[completed.count - 1])) }
        let pauses = samples.filter { !$0.isActive }.map { MonotonicInstant.zero + $0.time }
        var count = 0
        var seconds = 0.0
        for (earlier, later) in zip(completed, completed.dropFirst()) where later - earlier > Self.freezeGap {
            guard !pauses.contains(where: { $0 > earlier && $0 <= later }) else { continue }
            count += 1
            seconds += (later - earlier).seconds
        }
        return (count, seconds)
    }
}

import MediaCore
import RateControl

/// Takes notes while a simulated flow runs.
struct MediaFlowRecording {
    /// What of the simulation matters for its figures.
    struct Setting {
        var duration: Duration
        var sampleInterval: Duration
        /// The most that the source sends.
        var maximum: BitRate
        /// The scripted rates of the bottleneck.
        var steps: [LinkRate.Step] = []
        /// When the flow began.
        var start = Duration.zero
        /// What is measured; the whole time otherwise.
        var window: Range<Duration>?
    }

    private struct Frame {
        var captured: MonotonicInstant
        var missing: Int
        var completed: MonotonicInstant?
    }

    private let setting: Setting
    /// The window's bounds, and the last moment whose packets are not still under way at the end.
    private let windowStart: MonotonicInstant
    private let windowEnd: MonotonicInstant
    private let judgedEnd: MonotonicInstant

    private var samples: [MediaFlowSample] = []
    /// In nanoseconds.
    private var queueingDelays: [Int64] = []
    private var frames: [Frame] = []
    private var skippedFrames = 0
    private var sentSize = DataSize.zero
    private var paddingSize = DataSize.zero
    private var mediaReceivedSize = DataSize.zero
    private var feedbackSize = DataSize.zero
    private var sentSinceSample = DataSize.zero
    private var mediaReceivedSinceSample = DataSize.zero
    private var judgedSentPackets = 0
    private var judgedReceivedPackets = 0
    private var markedPackets = 0
    private(set) var lastSample = Duration.zero

    init(setting: Setting) {
        self.setting = setting
        windowStart = .zero + (setting.window?.lowerBound ?? .zero)
        windowEnd = .zero + (setting.window?.upperBound ?? setting.duration)
        judgedEnd = min(windowEnd, .zero + setting.duration - .seconds(1))
    }

    /// A frame was made; returns its number.
    mutating func frameEncoded(packetCount: Int, now: MonotonicInstant) -> Int {
        frames.append(Frame(captured: now, missing: packetCount))
        return frames.count - 1
    }

    mutating func frameSkipped(now: MonotonicInstant) {
        if now >= windowStart, now <= windowEnd { skippedFrames += 1 }
    }

    mutating func packetSent(size: DataSize, isPadding: Bool, now: MonotonicInstant) {
        sentSize += size
        sentSinceSample += size
        if isPadding { paddingSize += size }
        if now >= windowStart, now <= judgedEnd { judgedSentPackets += 1 }
    }

    /// A packet arrived; `frame` is negative where it belongs to none.
    mutating func packetReceived(
        size: DataSize, isMedia: Bool, frame: Int, sendTime: MonotonicInstant, queueingDelay: Duration, isMarked: Bool,
        now: MonotonicInstant
    ) {
        if now >= windowStart, now <= windowEnd {
            queueingDelays.append(queueingDelay.nanoseconds)
            if isMarked { markedPackets += 1 }
        }
        if sendTime >= windowStart, sendTime <= judgedEnd { judgedReceivedPackets += 1 }
        guard isMedia else { return }
        mediaReceivedSize += size
        mediaReceivedSinceSample += size
        guard frame >= 0 else { return }
        frames[frame].missing -= 1
        if frames[frame].missing == 0 { frames[frame].completed = now }
    }

    mutating func feedbackSent(size: DataSize) {
        feedbackSize += size
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
                goodput: BitRate(mediaReceivedSinceSample, over: interval),
                capacity: capacity.map { BitRate($0, over: interval) }, queueDelay: queueDelay,
                pacerDelay: pacerDelay, isActive: isActive))
        sentSinceSample = .zero
        mediaReceivedSinceSample = .zero
        lastSample = time
    }

    func report(link: LinkModel<some Any>.Statistics, keyFrameCount: Int) -> MediaFlowReport {
        var summary = MediaFlowSummary()
        summary.duration = setting.duration
        summary.goodput = BitRate(mediaReceivedSize, over: setting.duration)
        summary.sendRate = BitRate(sentSize, over: setting.duration)
        summary.paddingFraction = sentSize > .zero ? Double(paddingSize.bytes) / Double(sentSize.bytes) : 0
        summary.keyFrameCount = keyFrameCount
        if link.sentPackets > 0 {
            summary.lossFraction = Double(link.lostPackets + link.droppedPackets) / Double(link.sentPackets)
        }
        summary.meanTarget = BitRate(
            bitsPerSecond: samples.reduce(0) { $0 + Double($1.controller.targetBitRate.bitsPerSecond) }
                / Double(max(samples.count, 1)))
        summary.utilization = utilization
        summary.rampTime = rampTime

        let delays = queueingDelays.sorted()
        summary.queueingDelay = DelayDistribution(sorted: delays)
        let frameDelays = addFrames(to: &summary)
        let metrics = metrics(summary)
        summary.recoveryDeficit = metrics[.recoveryDeficit].map { $0 / 100 }
        return MediaFlowReport(
            summary: summary, samples: samples, metrics: metrics,
            queueingDelayPercentiles: DelayDistribution.percentiles(sorted: delays),
            frameDelayPercentiles: DelayDistribution.percentiles(sorted: frameDelays),
            stepResponses: StepResponse.all(to: setting.steps, duration: setting.duration, samples: samples))
    }

    /// The samples by the names and in the units that all reports use.
    var flowSamples: [FlowSample] {
        samples.map { sample in
            FlowSample(
                time: sample.time.seconds, target: sample.controller.targetBitRate.kilobitsPerSecond / 1000,
                sendRate: sample.sendRate.kilobitsPerSecond / 1000, goodput: sample.goodput.kilobitsPerSecond / 1000,
                capacity: sample.capacity.map { $0.kilobitsPerSecond / 1000 },
                queueDelay: sample.queueDelay.milliseconds, senderDelay: sample.pacerDelay.milliseconds,
                isActive: sample.isActive)
        }
    }

    private func metrics(_ summary: MediaFlowSummary) -> MetricValues {
        var values = MetricValues()
        let inWindow = flowSamples.filter {
            $0.time > (windowStart - .zero).seconds && $0.time <= (windowEnd - .zero).seconds + 1e-9
        }
        FlowSeries(samples: inWindow, sampleInterval: setting.sampleInterval, maximum: setting.maximum)
            .addMetrics(to: &values)
        values[.queueingDelayMean] = summary.queueingDelay.mean.milliseconds
        values[.queueingDelayMedian] = summary.queueingDelay.median.milliseconds
        values[.queueingDelay95] = summary.queueingDelay.percentile95.milliseconds
        values[.queueingDelay99] = summary.queueingDelay.percentile99.milliseconds
        if judgedSentPackets > 0 {
            values[.loss] = (1 - Double(judgedReceivedPackets) / Double(judgedSentPackets)) * 100
        }
        if markedPackets > 0 { values[.marked] = Double(markedPackets) / Double(queueingDelays.count) * 100 }
        values[.frameDelayMedian] = summary.frameDelay.median.milliseconds
        values[.frameDelay95] = summary.frameDelay.percentile95.milliseconds
        values[.frameDelay99] = summary.frameDelay.percentile99.milliseconds
        values[.framesLost] = summary.lostFraction * 100
        values[.framesSkipped] = summary.skippedFraction * 100
        values[.framesLateOrLost] = summary.lateOrLostFraction * 100
        values[.freeze] = summary.freezeFraction * 100
        values[.freezeCount] = Double(summary.freezeCount)
        values[.freezeTime] = summary.freezeFraction * measuredDuration
        values[.padding] = summary.paddingFraction * 100
        if mediaReceivedSize > .zero {
            values[.feedback] = Double(feedbackSize.bytes) / Double(mediaReceivedSize.bytes) * 100
        }
        return values
    }

    /// The seconds of the window in which the flow was there.
    private var measuredDuration: Double {
        max((windowEnd - max(windowStart, .zero + setting.start)).seconds, 0.001)
    }

    /// What the link could carry of what the encoder may make, in a sample's interval.
    private func usable(_ sample: MediaFlowSample) -> BitRate {
        min(sample.capacity ?? setting.maximum, setting.maximum)
    }

    private var utilization: Double {
        let usable = samples.reduce(0) { $0 + Double(self.usable($1).bitsPerSecond) }
        let used = samples.reduce(0) { $0 + Double($1.goodput.bitsPerSecond) }
        return usable > 0 ? used / usable : 0
    }

    /// The first time at which the goodput of a second is 90 % of what was usable in it.
    private var rampTime: Duration? {
        let count = max(Int(1 / max(setting.sampleInterval.seconds, 0.001)), 1)
        guard samples.count >= count else { return nil }
        for end in count...samples.count {
            let second = samples[end - count..<end]
            let used = second.reduce(0) { $0 + Double($1.goodput.bitsPerSecond) }
            let usable = second.reduce(0) { $0 + Double(self.usable($1).bitsPerSecond) }
            if usable > 0, used >= 0.9 * usable { return samples[end - 1].time }
        }
        return nil
    }

    /// Returns the delays of complete frames in nanoseconds, ascending.
    private func addFrames(to summary: inout MediaFlowSummary) -> [Int64] {
        let late: Int64 = 200_000_000
        // Frames of the last moments are still under way.
        let judged = frames.filter { $0.captured >= windowStart && $0.captured < judgedEnd }
        let delays = judged.compactMap { frame in frame.completed.map { ($0 - frame.captured).nanoseconds } }.sorted()
        summary.frameDelay = DelayDistribution(sorted: delays)
        let total = judged.count + skippedFrames
        summary.frameCount = total
        guard total > 0 else { return delays }
        let onTime = delays.count { $0 <= late }
        summary.lateOrLostFraction = Double(total - onTime) / Double(total)
        summary.skippedFraction = Double(skippedFrames) / Double(total)
        summary.lostFraction = Double(judged.count - delays.count) / Double(total)
        let freezes = freezes(judged)
        summary.freezeCount = freezes.count
        summary.freezeFraction = freezes.seconds / measuredDuration
        return delays
    }

    /// The gaps of over 183 ms between complete frames, and their seconds in all.
    private func freezes(_ frames: [Frame]) -> (count: Int, seconds: Double) {
        let completed = frames.compactMap(\.completed).sorted()
        var count = 0
        var seconds = 0.0
        for (earlier, later) in zip(completed, completed.dropFirst()) where later - earlier > .milliseconds(183) {
            count += 1
            seconds += (later - earlier).seconds
        }
        return (count, seconds)
    }
}

import MediaCore
import RateControl

/// Takes notes while a simulated flow runs.
struct MediaFlowRecording {
    private struct Frame {
        var captured: MonotonicInstant
        var missing: Int
        var completed: MonotonicInstant?
    }

    private let configuration: MediaFlowConfiguration
    private var samples: [MediaFlowSample] = []
    private var queueingDelays: [Duration] = []
    private var frames: [Frame] = []
    private var skippedFrames = 0
    private var sentSize = DataSize.zero
    private var paddingSize = DataSize.zero
    private var mediaReceivedSize = DataSize.zero
    private var sentSinceSample = DataSize.zero
    private var mediaReceivedSinceSample = DataSize.zero
    private var lastSample = Duration.zero

    init(configuration: MediaFlowConfiguration) {
        self.configuration = configuration
    }

    /// A frame was made; returns its number.
    mutating func frameEncoded(packetCount: Int, now: MonotonicInstant) -> Int {
        frames.append(Frame(captured: now, missing: packetCount))
        return frames.count - 1
    }

    mutating func frameSkipped() {
        skippedFrames += 1
    }

    mutating func packetSent(size: DataSize, isPadding: Bool) {
        sentSize += size
        sentSinceSample += size
        if isPadding { paddingSize += size }
    }

    mutating func packetReceived(size: DataSize, frame: Int?, queueingDelay: Duration, now: MonotonicInstant) {
        queueingDelays.append(queueingDelay)
        guard let frame else { return }
        mediaReceivedSize += size
        mediaReceivedSinceSample += size
        frames[frame].missing -= 1
        if frames[frame].missing == 0 { frames[frame].completed = now }
    }

    mutating func sample(
        controller: ControllerSnapshot, queueDelay: Duration, pacerDelay: Duration, now: MonotonicInstant
    ) {
        let time = now - MonotonicInstant.zero
        let interval = time - lastSample
        let capacity = configuration.link.rate.capacity(from: lastSample, to: time)
        samples.append(
            MediaFlowSample(
                time: time, controller: controller, sendRate: BitRate(sentSinceSample, over: interval),
                goodput: BitRate(mediaReceivedSinceSample, over: interval),
                capacity: capacity.map { BitRate($0, over: interval) }, queueDelay: queueDelay,
                pacerDelay: pacerDelay))
        sentSinceSample = .zero
        mediaReceivedSinceSample = .zero
        lastSample = time
    }

    func report(link: LinkModel<some Any>.Statistics, keyFrameCount: Int) -> MediaFlowReport {
        var summary = MediaFlowSummary()
        summary.duration = configuration.duration
        summary.goodput = BitRate(mediaReceivedSize, over: configuration.duration)
        summary.sendRate = BitRate(sentSize, over: configuration.duration)
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
        summary.recoveryDeficit = recoveryDeficit

        let delays = queueingDelays.sorted()
        summary.queueingDelay = DelayDistribution(sorted: delays)
        addFrames(to: &summary)
        return MediaFlowReport(
            summary: summary, samples: samples, stepResponses: StepResponse.all(configuration, samples: samples))
    }

    /// What the link could carry of what the encoder may make, in a sample's interval.
    private func usable(_ sample: MediaFlowSample) -> BitRate {
        min(sample.capacity ?? configuration.encoder.maximum, configuration.encoder.maximum)
    }

    private var utilization: Double {
        let usable = samples.reduce(0) { $0 + Double(self.usable($1).bitsPerSecond) }
        let used = samples.reduce(0) { $0 + Double($1.goodput.bitsPerSecond) }
        return usable > 0 ? used / usable : 0
    }

    /// The first time at which the goodput of a second is 90 % of what was usable in it.
    private var rampTime: Duration? {
        let count = max(Int(1 / max(configuration.sampleInterval.seconds, 0.001)), 1)
        guard samples.count >= count else { return nil }
        for end in count...samples.count {
            let second = samples[end - count..<end]
            let used = second.reduce(0) { $0 + Double($1.goodput.bitsPerSecond) }
            let usable = second.reduce(0) { $0 + Double(self.usable($1).bitsPerSecond) }
            if usable > 0, used >= 0.9 * usable { return samples[end - 1].time }
        }
        return nil
    }

    /// What was missed in the five seconds after each time that the usable capacity of a second was twice that of the
    /// second before, or more; the next such time is looked for after them.
    private var recoveryDeficit: Double? {
        let second = max(Int(1 / max(configuration.sampleInterval.seconds, 0.001)), 1)
        let usable = samples.map { Double(self.usable($0).bitsPerSecond) }
        let used = samples.map { Double($0.goodput.bitsPerSecond) }
        var deficits: [Double] = []
        var index = second
        while index + 5 * second <= samples.count {
            let before = usable[index - second..<index].reduce(0, +)
            let after = usable[index..<index + second].reduce(0, +)
            guard after > 0, after >= 2 * before else {
                index += 1
                continue
            }
            let span = index..<index + 5 * second
            deficits.append(1 - used[span].reduce(0, +) / usable[span].reduce(0, +))
            index = span.upperBound
        }
        return deficits.isEmpty ? nil : deficits.reduce(0, +) / Double(deficits.count)
    }

    private func addFrames(to summary: inout MediaFlowSummary) {
        let late = Duration.milliseconds(200)
        // Frames of the last moments are still under way.
        let judged = frames.filter { configuration.duration - ($0.captured - MonotonicInstant.zero) > .seconds(1) }
        let delays = judged.compactMap { frame in frame.completed.map { $0 - frame.captured } }.sorted()
        summary.frameDelay = DelayDistribution(sorted: delays)
        let total = judged.count + skippedFrames
        summary.frameCount = total
        guard total > 0 else { return }
        let onTime = delays.count { $0 <= late }
        summary.lateOrLostFraction = Double(total - onTime) / Double(total)
        summary.skippedFraction = Double(skippedFrames) / Double(total)
        summary.freezeFraction = freezeTime(judged) / configuration.duration.seconds
    }

    /// The seconds in gaps of over 183 ms between complete frames.
    private func freezeTime(_ frames: [Frame]) -> Double {
        let completed = frames.compactMap(\.completed).sorted()
        var seconds = 0.0
        for (earlier, later) in zip(completed, completed.dropFirst()) where later - earlier > .milliseconds(183) {
            seconds += (later - earlier).seconds
        }
        return seconds
    }
}

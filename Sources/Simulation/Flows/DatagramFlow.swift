public import MediaCore
public import RTP

/// A flow of packets without rate control: constant, in bursts or random, such as audio.
public struct DatagramFlowParameters: Hashable, Sendable {
    /// The spacing of packets.
    public enum Spacing: Hashable, Sendable {
        case even
        /// Random with an exponential distribution: Poisson arrivals.
        case random
    }

    /// Alternating times of sending and of silence.
    public struct OnOff: Hashable, Sendable {
        public var on: Duration
        public var off: Duration
        /// True if both times are means of exponential distributions.
        public var isRandom: Bool

        public init(on: Duration, off: Duration, isRandom: Bool = false) {
            self.on = on
            self.off = off
            self.isRandom = isRandom
        }
    }

    /// The rate while the flow sends.
    public var rate: BitRate
    public var packetSize: DataSize
    public var spacing: Spacing
    public var onOff: OnOff?
    public var start: Duration
    public var stop: Duration?
    public var ecn: ECNCodepoint

    public init(
        rate: BitRate, packetSize: DataSize = DataSize(bytes: 1200), spacing: Spacing = .even, onOff: OnOff? = nil,
        start: Duration = .zero, stop: Duration? = nil, ecn: ECNCodepoint = .notCapable
    ) {
        self.rate = rate
        self.packetSize = packetSize
        self.spacing = spacing
        self.onOff = onOff
        self.start = start
        self.stop = stop
        self.ecn = ecn
    }

    /// Returns audio at a constant rate, with a packet each 20 ms (RFC 8867, section 4.4).
    public static func audio(
        rate: BitRate = .kilobits(20), start: Duration = .zero, stop: Duration? = nil
    ) -> DatagramFlowParameters {
        DatagramFlowParameters(
            rate: rate, packetSize: rate.dataSize(over: .milliseconds(20)), start: start, stop: stop)
    }
}

/// A sender of datagrams.
struct DatagramFlow: SimulatedFlow {
    private let number: Int
    private let parameters: DatagramFlowParameters
    private let interval: Duration
    private var generator: SeededGenerator
    /// The end of the present time of sending.
    private var onUntil = MonotonicInstant.distantFuture
    private(set) var recording: TrafficRecording

    init(number: Int, parameters: DatagramFlowParameters, setting: MediaFlowRecording.Setting, seed: UInt64) {
        self.number = number
        self.parameters = parameters
        interval = max(parameters.rate.duration(for: parameters.packetSize), .microseconds(1))
        generator = SeededGenerator(seed: seed)
        recording = TrafficRecording(setting: setting)
    }

    mutating func begin(_ network: SimulatedNetwork) {
        let start = MonotonicInstant.zero + parameters.start
        if let onOff = parameters.onOff { onUntil = start + length(onOff.on, isRandom: onOff.isRandom) }
        guard parameters.rate > .zero else { return }
        network.schedule(flow: number, tag: 0, at: start)
    }

    mutating func timer(_ tag: Int, _ network: SimulatedNetwork) {
        let now = network.now
        guard isActive(at: now) else { return }
        if let onOff = parameters.onOff, now >= onUntil {
            let begin = now + length(onOff.off, isRandom: onOff.isRandom)
            onUntil = begin + length(onOff.on, isRandom: onOff.isRandom)
            network.schedule(flow: number, tag: 0, at: begin)
            return
        }
        let packet = SimulatedPacket(
            flow: number, direction: .forward, size: parameters.packetSize, ecn: parameters.ecn, sendTime: now)
        recording.sent(packet, now: now)
        network.send(packet)
        let wait = parameters.spacing == .even ? interval : generator.nextExponential(mean: interval)
        network.schedule(flow: number, tag: 0, at: now + wait)
    }

    mutating func wake(_ network: SimulatedNetwork) {}

    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {
        recording.received(packet, useful: packet.size, now: network.now)
    }

    mutating func sample(_ network: SimulatedNetwork) {
        recording.sample(
            flow: number, isActive: isActive(at: network.now), target: parameters.rate.kilobitsPerSecond / 1000, network
        )
    }

    private func isActive(at time: MonotonicInstant) -> Bool {
        time >= .zero + parameters.start && parameters.stop.map { time < .zero + $0 } ?? true
    }

    private mutating func length(_ duration: Duration, isRandom: Bool) -> Duration {
        isRandom ? generator.nextExponential(mean: duration) : duration
    }
}

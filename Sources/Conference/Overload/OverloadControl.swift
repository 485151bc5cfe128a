import AudioMixing
import Compositing
import LoadControl
import MediaCore
import NIOCore
import VideoCoding

/// A relay's overload control with its inputs: the ticks of all rooms, the workers' time, and the measured capacity of
/// the machine. It belongs to the relay's loop.
final class OverloadControl {
    /// The work of all rooms.
    struct Load {
        /// The work of each room, with the smallest possible numbers of pictures and encoders.
        var rooms: [SeatModel.Work] = []
        var situation = OverloadPolicy.Situation()
    }

    private let settings: OverloadSettings?
    private let configuration: RelayConfiguration
    private var policy: OverloadPolicy
    private var factor = CostFactor()
    private(set) var calibration: Calibration?
    private var seatModel: SeatModel?
    private(set) var seatsLeft: Int?
    private var rooms: [SeatModel.Work] = []
    private var lastUpdate: MonotonicInstant
    private var lastJoin: MonotonicInstant?
    private(set) var transitions: UInt64 = 0
    private(set) var joinsRefused: UInt64 = 0
    private(set) var slack = SlackHistogram()
    private var events = CircularBuffer<OverloadEvent>()
    private var lastEncoderFailure: MonotonicInstant?

    /// The interval of decisions.
    private static let interval = Duration.milliseconds(100)
    private static let eventCapacity = 256
    private static let failureInterval = Duration.seconds(1)
    /// This long after the last join, the measured load is more exact than the estimate.
    private static let joinSettling = Duration.seconds(3)
    /// Workers that are busy for at most this share have room for one more, whatever the estimate.
    private static let idleBusy = 0.5
    private static let retryTimes = (least: 5, most: 120)
    /// The seconds after which a client may ask again when there are no seats: a participant has to leave first.
    private static let retryWithoutSeats = 30

    init(configuration: RelayConfiguration, now: MonotonicInstant) {
        self.configuration = configuration
        settings = configuration.overload
        policy = OverloadPolicy(workers: configuration.overload?.workers ?? 1, now: now)
        lastUpdate = now
    }

    var isOn: Bool { settings != nil }
    var limits: WorkLimits { policy.limits }
    var level: OverloadLevel { policy.level }
    /// True if the workers are busy for most of their time, or a measure is in force.
    var isShortOfTime: Bool {
        level != .normal || policy.lastReading.busyShare(settings?.workers ?? 1) > Self.shortBusy
    }
    private static let shortBusy = 0.75

    // MARK: Observations

    func observe(_ completion: JobCompletion, now: MonotonicInstant) {
        guard isOn else { return }
        let busy = completion.finished - completion.started
        policy.observe(
            busy: busy, deviceTime: .seconds(calibration?.deviceTime(of: completion.output) ?? 0), now: now)
        guard let calibration else { return }
        factor.observe(
            busy: busy.seconds,
            expected: calibration.cost(of: completion.output, busy: busy.seconds, preset: presetInUse),
            now: now)
    }

    func tickEnded(slack value: Double, now: MonotonicInstant) {
        slack.observe(value)
        if isOn { policy.observe(slack: value, now: now) }
    }

    func tickMissed(now: MonotonicInstant) {
        slack.observeMissed()
        if isOn { policy.observeMissedTick(now: now) }
    }

    private var presetInUse: EncoderPreset { limits.preset ?? configuration.encoderPreset }

    // MARK: Decisions

    /// Returns true if a decision is due.
    func isDue(now: MonotonicInstant) -> Bool { isOn && now - lastUpdate >= Self.interval }

    /// Decides from the observed load. Returns true if the limits have changed.
    func update(_ load: Load, now: MonotonicInstant) -> Bool {
        lastUpdate = now
        rooms = load.rooms
        var situation = load.situation
        situation.presetCosts = calibration.map { calibration in
            calibration.encode.mapValues { calibration.device.encode ?? $0 }
        }
        let transition = policy.update(situation, now: now)
        updateSeats(now: now)
        guard let transition else { return false }
        // A level may have several steps.
        guard transition.from != transition.to else { return true }
        transitions &+= 1
        emit(.levelChanged(OverloadChange(transition, seatsLeft: seatsLeft)))
        return true
    }

    private func updateSeats(now: MonotonicInstant) {
        guard let seatModel else { return }
        var left = seatModel.seatsLeft(beside: rooms, factor: factor.value)
        let isSettled = lastJoin.map { now - $0 > Self.joinSettling } ?? true
        let busy = policy.lastReading.busyShare(settings?.workers ?? 1)
        if left == 0, level == .normal, isSettled, busy < Self.idleBusy { left = 1 }
        seatsLeft = limits.admitsJoins ? left : 0
    }

    /// Sets the measured capacity of the machine.
    func adopt(_ calibration: Calibration, now: MonotonicInstant) {
        guard let settings else { return }
        self.calibration = calibration
        let model = SeatModel(
            calibration: calibration, workers: settings.workers, frameRate: configuration.frameRate,
            preset: configuration.encoderPreset, maximumEncoders: configuration.maximumEncoders)
        seatModel = model
        updateSeats(now: now)
        emit(.calibrated(calibration, model))
    }

    // MARK: Joining

    /// The reason for which no further participants are admitted, and the seconds after which to ask again; nil if they
    /// are.
    var refusal: (reason: String, retryAfter: Int)? {
        guard isOn else { return nil }
        if !limits.admitsJoins {
            let seconds = Int(clamping: policy.recoveryTime.seconds.rounded(.up))
            return (
                "the relay accepts no more participants: it is at its highest overload level and still too slow",
                min(max(seconds, Self.retryTimes.least), Self.retryTimes.most)
            )
        }
        guard seatsLeft == 0 else { return nil }
        return (
            "the relay has no seats left for another participant",
            Self.retryWithoutSeats
        )
    }

    func recordRefusal() { joinsRefused &+= 1 }

    /// A participant has connected: there is a seat less before anything of its media is seen.
    func seatTaken(now: MonotonicInstant) {
        lastJoin = now
        if let left = seatsLeft { seatsLeft = max(0, left - 1) }
    }

    // MARK: Telling

    /// Reports a failure of a room's encoder. If many fail at once, one is reported for all.
    func encoderFailed(_ failure: EncoderFailure, room: String, now: MonotonicInstant) {
        if let lastEncoderFailure, now - lastEncoderFailure < Self.failureInterval { return }
        lastEncoderFailure = now
        emit(.encoderFailed(failure, room: room))
    }

    private func emit(_ event: OverloadEvent) {
        if events.count == Self.eventCapacity { events.removeFirst() }
        events.append(event)
    }

    func pollEvent() -> OverloadEvent? { events.popFirst() }

    /// The active measures as a sentence; nil without any.
    var sentence: String? { OverloadSnapshot.sentence(policy.measures) }

    var snapshot: OverloadSnapshot? {
        guard let settings else { return nil }
        let reading = policy.lastReading
        return OverloadSnapshot(
            level: level, seatsLeft: seatsLeft, seats: seatModel.map(OverloadSnapshot.Seats.init), load: reading.load,
            busy: reading.busyShare(settings.workers),
            deviceBusy: calibration.flatMap { $0.device == DeviceCosts() ? nil : reading.deviceShare },
            transitions: transitions, joinsRefused: joinsRefused,
            measures: sentence, slack: slack,
            refusal: refusal.map { .init(reason: $0.reason, retryAfter: $0.retryAfter) })
    }
}

extension Calibration {
    /// Seconds that a job's work should have taken.
    ///
    /// - Parameter busy: The seconds that it took.
    fileprivate func cost(of output: JobOutput, busy: Double, preset: EncoderPreset) -> Double {
        switch output {
        case .decoded(_, let batch):
            guard batch.onDevice == 0 else { return deviceTime(of: output) }
            return decoding(pictures: batch.decoded, samples: batch.samples, busy: busy)
        case .composed(_, let tick):
            return seconds(of: tick, at: tick.device.pictures > 0 ? device.compose ?? compose : compose)
        case .encoded(_, let picture):
            guard !picture.isFromDevice else { return deviceTime(of: output) }
            return picture.frame.map { share(of: $0.sample.format.dimensions) * (encode[preset] ?? 0) } ?? 0
        case .mixed(_, let ticks):
            return ticks.reduce(0) { sum, tick in
                sum + Double(tick.output.sources.count) * audioDecode
                    + Double(tick.output.encodeCount) * audioEncode
            }
        }
    }

    /// Seconds for which a device should have done a job's work. Jobs that wait for it at the same time each take
    /// longer, so that the sum of their times says less of it.
    fileprivate func deviceTime(of output: JobOutput) -> Double {
        switch output {
        case .decoded(_, let batch):
            guard batch.decoded > 0, let decode = device.decode else { return 0 }
            let share = Double(batch.onDevice) / Double(batch.decoded)
            return share * batch.samples / Double(Self.sourceDimensions.area) * decode
        case .encoded(_, let picture):
            guard picture.isFromDevice, let frame = picture.frame, let encode = device.encode else { return 0 }
            return share(of: frame.sample.format.dimensions) * encode
        case .composed(_, let tick):
            guard tick.device.pictures > 0, let compose = device.compose else { return 0 }
            return seconds(of: tick, at: compose)
        case .mixed: return 0
        }
    }

    private func seconds(of tick: ComposedTick, at cost: CompositionCost) -> Double {
        var pictures = 0.0
        for (picture, origin) in zip(tick.pictures, tick.origins) where origin == .rendered {
            pictures += share(of: picture.dimensions)
        }
        // Sources are scaled where anything is rendered of them.
        return cost.seconds(sources: pictures > 0 ? tick.sourceCount : 0, pictures: pictures)
    }

    /// Seconds that pictures should have taken to decode.
    ///
    /// The size of large pictures explains a longer time, but not a shorter one: pictures in which nothing moves take
    /// little time whatever their size, and must not make the machine look faster than it is.
    private func decoding(pictures: UInt64, samples: Double, busy: Double) -> Double {
        let usual = Double(pictures) * decode
        let bySize = samples / Double(Self.sourceDimensions.area) * decode
        return min(bySize, max(usual, busy))
    }

    /// A picture's size, compared with the whole canvas.
    private func share(of dimensions: VideoDimensions) -> Double {
        Double(dimensions.area) / Double(max(1, canvas.area))
    }
}

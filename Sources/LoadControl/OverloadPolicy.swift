package import MediaCore
package import VideoCoding

/// Decides which costs to reduce when the machine has too little time for the rooms' ticks, and when to stop that.
///
/// It is fed what each tick took of its time, and how long the workers and a device were busy. What counts is the load
/// that 95 % of the ticks of about a second stay below. Where it comes near the deadline, one measure after the other
/// is taken, each after the one before has shown what it does. While the workers have time left, it takes only
/// measures that make a single job shorter: other measures would save time that is not scarce.
///
/// A measure is taken back when what it would bring back fits with room to spare, and has for a while. Where that was
/// wrong, it is known for some minutes what the measure brings back, and the while is twice as long the next time. So
/// it is quick on the way down, slow on the way up, and does not go to and fro.
package struct OverloadPolicy: Sendable {
    /// The measures that have an effect: those that would change nothing are skipped.
    package struct Situation: Sendable, Equatable {
        /// The encoders' configured preset.
        package var preset = EncoderPreset.balanced
        /// The relative cost of encoding at each preset; nil while it is not known.
        package var presetCosts: [EncoderPreset: Double]?
        /// Pictures that a shared view would save, in the room where these are most.
        package var personalPictures = 0
        /// Encoders in the room with most of them, and how few could do there.
        package var encoders = 0
        package var leastEncoders = 0
        /// The largest number of encoders in a room, as configured or, without a limit, the present number.
        package var encoderBudget = 0
        /// Pictures a second.
        package var frameRate = 30
        /// True if there are no participants.
        package var isEmpty = false

        package init() {}
    }

    /// A change of level.
    package struct Transition: Sendable, Hashable {
        package var from: OverloadLevel
        package var to: OverloadLevel
        /// The load, and the workers' busy share, that it was taken at.
        package var load: Double
        package var busy: Double

        package init(from: OverloadLevel, to: OverloadLevel, load: Double, busy: Double) {
            self.from = from
            self.to = to
            self.load = load
            self.busy = busy
        }
    }

    package private(set) var limits = WorkLimits()
    private let workers: Int
    private var window: LoadWindow
    /// The levels gone through, each of which had an effect.
    private var path: [OverloadLevel] = []
    private var lastChange: MonotonicInstant
    private var lastUpdate: MonotonicInstant
    /// The time for which there has been enough room to go back.
    private var comfort = Duration.zero
    private var patience = Self.shortestPatience
    /// The time of the last undone measure, and its level.
    private var lastRecovery: MonotonicInstant?
    /// Half of the encoders that there were when that measure was taken, whatever has become of the number since.
    private var halfBudget = 1
    /// The most personal pictures after each step that took some, the newest last.
    private var viewLimits: [Int] = []
    private var frameRate = 30
    /// The growth of the load when a measure was taken back in vain, and the time until which that is believed.
    private var relapses: [OverloadLevel: (growth: Double, until: MonotonicInstant)] = [:]
    /// The last measure that was taken back, and the load just before.
    private var recovered: (level: OverloadLevel, load: Double)?
    package private(set) var lastReading = LoadWindow.Reading()

    /// A load above this is too near to the deadline.
    static let highLoad = 0.85
    /// Above this load, although some personal pictures were given up, half of the others go at once, not a quarter.
    static let severeLoad = 1.5
    /// Workers that are busy for more than this have no time left.
    static let highBusy = 0.95
    /// Workers that are busy for less have time left: lateness comes of jobs that wait for one another.
    static let fullBusy = 0.85
    /// The load below which a measure is undone.
    static let comfortableLoad = 0.75
    /// The time after a change in which nothing is concluded, since some of the measurements are from before the
    /// change.
    package static let settling = Duration.milliseconds(500)
    /// The same after a change of encode groups, which begins with keyframes.
    static let settlingOfGroups = Duration.milliseconds(1500)
    /// The time for which there must be room before a measure is undone.
    static let shortestPatience = Duration.seconds(5)
    static let longestPatience = Duration.seconds(160)
    /// Without any change for this time, earlier relapses count no more.
    static let forgetting = Duration.seconds(300)

    package init(workers: Int, now: MonotonicInstant) {
        self.workers = max(1, workers)
        window = LoadWindow(highAbove: Self.highLoad, now: now)
        lastChange = now
        lastUpdate = now
    }

    package var level: OverloadLevel { path.last ?? .normal }

    /// The active measures that have an effect, in the order in which they were taken.
    package var measures: [OverloadLevel] { OverloadLevel.allCases.filter(path.contains) }

    /// The time until a measure may be undone.
    package var recoveryTime: Duration { max(.zero, patience - comfort) }

    // MARK: Observations

    /// Takes a tick whose last job is done.
    ///
    /// - Parameter slack: The time from then until its deadline, as a share of the time between two ticks; negative
    ///   when it was late.
    package mutating func observe(slack: Double, now: MonotonicInstant) {
        window.observe(load: 1 - slack, now: now)
    }

    /// Takes a tick that was left out because there was no time for it.
    package mutating func observeMissedTick(now: MonotonicInstant) {
        window.observe(load: 2, now: now)
    }

    /// Takes the time that a job took on its worker, and the part of it for which a device did the work.
    package mutating func observe(busy: Duration, deviceTime: Duration = .zero, now: MonotonicInstant) {
        window.observe(busy: busy, deviceTime: deviceTime, now: now)
    }

    // MARK: Decisions

    /// Decides from the observed load; call it several times a second.
    ///
    /// - Returns: The change of level, if there is one.
    package mutating func update(_ situation: Situation, now: MonotonicInstant) -> Transition? {
        let reading = window.read(now: now)
        lastReading = reading
        let elapsed = max(.zero, now - lastUpdate)
        lastUpdate = now
        frameRate = situation.frameRate
        if now - lastChange > Self.forgetting { patience = Self.shortestPatience }
        guard !situation.isEmpty else { return reset(now: now) }
        // Of the two budgets, the one that is nearer to its end counts.
        let busy = max(reading.busyShare(workers), reading.deviceShare)
        if isTooMuch(reading, busy: busy) {
            comfort = .zero
            guard now - lastChange >= settlingTime, let next = next(situation, busy: busy) else { return nil }
            return stepDown(to: next, situation, busy: busy, now: now)
        }
        guard !path.isEmpty else { return nil }
        let expected = max(reading.load, busy) * growth(situation, now: now)
        if expected <= Self.comfortableLoad {
            comfort += elapsed
        } else {
            // A moment of too little does not undo all of a long time of enough.
            comfort = max(.zero, comfort - elapsed * 3)
        }
        guard comfort >= patience else { return nil }
        return stepUp(busy: busy, now: now)
    }

    /// Returns true if the deadlines are too near. One moment in which the machine stood still does not count: the load
    /// must be high repeatedly, or for half of the time.
    private func isTooMuch(_ reading: LoadWindow.Reading, busy: Double) -> Bool {
        guard reading.length >= Self.settling else { return false }
        let few = min(3, reading.ticks)
        if reading.ticks > 0, reading.load > Self.highLoad, reading.highTicks >= few {
            if reading.highSlices >= 3 || reading.highTicks * 2 >= reading.ticks { return true }
        }
        return busy > Self.highBusy && reading.length >= .milliseconds(750)
    }

    private var settlingTime: Duration {
        switch level {
        case .fewerPersonalViews, .sharedView, .halfEncoders, .oneEncoder: Self.settlingOfGroups
        default: Self.settling
        }
    }

    /// The next measure that has an effect. Personal pictures are taken step by step.
    private func next(_ situation: Situation, busy: Double) -> OverloadLevel? {
        OverloadLevel.allCases.first { next in
            (next > level || (next == level && next == .fewerPersonalViews))
                && hasEffect(next, situation, busy: busy)
        }
    }

    /// The number of members that see a picture of their own.
    private func personalViews(_ situation: Situation) -> Int {
        min(situation.personalPictures + 1, viewLimits.last ?? .max)
    }

    private func hasEffect(_ level: OverloadLevel, _ situation: Situation, busy: Double) -> Bool {
        // Fewer jobs do not make the one shorter that takes long.
        guard level <= .cheapestPreset || busy >= Self.fullBusy else { return false }
        return switch level {
        case .normal: false
        case .cheaperPreset:
            situation.preset == .quality && saves(.balanced, situation)
        case .cheapestPreset:
            situation.preset != .fastest && saves(.fastest, situation)
        case .fewerPersonalViews:
            situation.personalPictures > 0 && personalViews(situation) >= Self.leastViewsToReduce
        case .sharedView: situation.personalPictures > 0
        case .halfEncoders: situation.encoders > max(2, situation.leastEncoders)
        case .oneEncoder: situation.encoders > max(1, situation.leastEncoders)
        case .reducedFrameRate, .halfFrameRate: level.frameRate(of: situation.frameRate) != nil
        case .refusingJoins: true
        }
    }

    /// Fewer personal pictures than these are taken all at once.
    private static let leastViewsToReduce = 4

    /// Returns true if a preset costs notably less than the one in use.
    private func saves(_ preset: EncoderPreset, _ situation: Situation) -> Bool {
        guard let costs = situation.presetCosts, let usual = costs[limits.preset ?? situation.preset],
            let less = costs[preset]
        else { return true }
        return less < usual * 0.97
    }

    /// Returns the factor by which the load may grow when the present level's measure is undone.
    private func growth(_ situation: Situation, now: MonotonicInstant) -> Double {
        let known = relapses[level].flatMap { $0.until > now ? $0.growth : nil } ?? 1
        return max(known, reckonedGrowth(situation))
    }

    private func reckonedGrowth(_ situation: Situation) -> Double {
        switch level {
        case .normal, .refusingJoins: return 1
        case .cheaperPreset, .cheapestPreset:
            let isSecond = level == .cheapestPreset && path.contains(.cheaperPreset)
            guard let costs = situation.presetCosts, let cheap = costs[limits.preset ?? .fastest], cheap > 0,
                let next = costs[isSecond ? .balanced : situation.preset]
            else { return 1.25 }
            return min(max(next / cheap, 1.05), 2)
        case .fewerPersonalViews:
            let before = min(situation.personalPictures + 1, viewLimits.dropLast().last.map { $0 + 1 } ?? .max)
            return min(max(Double(before) / Double((viewLimits.last ?? 0) + 1), 1.1), 2)
        case .sharedView:
            // As many pictures and encoders as there are people who see themselves now.
            let views = viewLimits.last ?? situation.personalPictures
            return min(max(Double(views + 1) / Double(max(1, situation.encoders)), 1.5), 4)
        case .halfEncoders, .oneEncoder: return 1.6
        case .reducedFrameRate: return 1.5
        case .halfFrameRate: return path.contains(.reducedFrameRate) ? 1.34 : 2
        }
    }

    private mutating func stepDown(
        to next: OverloadLevel, _ situation: Situation, busy: Double, now: MonotonicInstant
    ) -> Transition {
        if let lastRecovery, now - lastRecovery <= max(patience, .seconds(30)) {
            patience = min(patience * 2, Self.longestPatience)
            if let recovered, recovered.level == next {
                let growth = max(lastReading.load, busy) / max(recovered.load, 0.01)
                relapses[next] = (growth, now + Self.forgetting)
            }
        }
        lastRecovery = nil
        let before = level
        path.append(next)
        if next == .fewerPersonalViews {
            let isSevere = !viewLimits.isEmpty && lastReading.load > Self.severeLoad
            let share = isSevere ? 0.5 : 0.75
            viewLimits.append(Int(Double(personalViews(situation)) * share))
        }
        if next == .halfEncoders { halfBudget = max(1, (situation.encoderBudget + 1) / 2) }
        return changed(from: before, busy: busy, now: now)
    }

    private mutating func stepUp(busy: Double, now: MonotonicInstant) -> Transition {
        let before = level
        if path.removeLast() == .fewerPersonalViews { viewLimits.removeLast() }
        lastRecovery = now
        recovered = (before, max(lastReading.load, busy))
        return changed(from: before, busy: busy, now: now)
    }

    private mutating func changed(from before: OverloadLevel, busy: Double, now: MonotonicInstant) -> Transition {
        comfort = .zero
        lastChange = now
        setLimits()
        let transition = Transition(from: before, to: level, load: lastReading.load, busy: busy)
        window.reset(now: now)
        return transition
    }

    /// Resets the level, because there are no participants and nothing to save.
    private mutating func reset(now: MonotonicInstant) -> Transition? {
        guard !path.isEmpty else { return nil }
        let before = level
        path.removeAll()
        viewLimits.removeAll()
        return changed(from: before, busy: 0, now: now)
    }

    private mutating func setLimits() {
        var limits = WorkLimits()
        if path.contains(.cheapestPreset) {
            limits.preset = .fastest
        } else if path.contains(.cheaperPreset) {
            limits.preset = .balanced
        }
        if path.contains(.sharedView) {
            limits.personalViews = 0
        } else {
            limits.personalViews = viewLimits.last
        }
        if path.contains(.oneEncoder) {
            limits.maximumEncoders = 1
        } else if path.contains(.halfEncoders) {
            limits.maximumEncoders = halfBudget
        }
        limits.maximumFrameRate = path.compactMap { $0.frameRate(of: frameRate) }.min()
        limits.admitsJoins = level < .refusingJoins
        self.limits = limits
    }
}

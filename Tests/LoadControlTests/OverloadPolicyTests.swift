import MediaCore
import Testing
import VideoCoding

@testable import LoadControl

/// Overload control on virtual time, with a machine of given costs.
@Suite struct OverloadPolicyTests {
    typealias Scenario = ModelMachine.Scenario

    /// Loads that no measure is needed for, that some measures are enough for, and that none is enough for.
    static let scenarios = [
        Scenario(name: "a call of two", duration: 60, participants: [(0, 2)]),
        Scenario(name: "as many as just fit", duration: 160, participants: [(0, 9)]),
        Scenario(name: "somewhat too many", duration: 160, participants: [(0, 14)]),
        Scenario(name: "far too many", duration: 160, participants: [(0, 60)]),
        Scenario(name: "too many for all measures together", duration: 120, participants: [(0, 170)]),
        Scenario(
            name: "many who all see the same", duration: 160, participants: [(0, 50)], seesSelf: true,
            maximumEncoders: 4),
        Scenario(name: "each on an encoder, seeing themselves", duration: 160, participants: [(0, 16)], seesSelf: true),
        Scenario(
            name: "a neighbour that takes half of the machine, for ever", duration: 160, participants: [(0, 7)],
            neighbours: [(20, 160, 0.5)]),
    ]

    @Test("under a steady load it comes to rest, and the latency stays bounded", arguments: scenarios)
    func restsUnderSteadyLoad(scenario: Scenario) {
        let course = ModelMachine.run(scenario)
        let settled = 25.0
        #expect(course.latency95(from: settled, to: scenario.duration) <= 0.15)
        // It may try to go back now and then, ever less often.
        let changes = course.transitions(from: settled, to: scenario.duration)
        #expect(changes.count <= 6, "\(changes.map(\.to.name))")
    }

    /// Loads at which overload control is to come to rest, wherever that is.
    static let counts = Array(stride(from: 7, through: 23, by: 2))

    @Test("at no load does it go to and fro", arguments: counts)
    func neverOscillates(count: Int) {
        // Every third number with views and encoders of another kind.
        let scenario = Scenario(
            name: "", duration: 120, participants: [(0, count)], seesSelf: !count.isMultiple(of: 3),
            maximumEncoders: count % 3 == 1 ? 6 : nil)
        let course = ModelMachine.run(scenario)
        let changes = course.transitions(from: 20, to: 120)
        #expect(changes.count <= 6, "\(changes.map(\.to.name))")
        #expect(course.missed(from: 20, to: 120) < 0.01)
    }

    @Test("while the load grows, the measures are taken in order, before deadlines are missed")
    func growingLoad() {
        let joins = (0..<50).map { (time: Double($0) * 2, count: $0 + 2) }
        let course = ModelMachine.run(Scenario(name: "", duration: 110, participants: joins))
        let levels = course.transitions.map(\.transition.to)
        #expect(Set(levels).count >= 2)
        #expect(levels == levels.sorted())
        #expect(course.missed(from: 0, to: 110) < 0.005)
        #expect(course.latency95(from: 0, to: 110) < 0.05)
    }

    @Test(
        "when other work takes half of the machine, the first measure comes within a second, and is undone soon after"
    )
    func neighbour() throws {
        let course = ModelMachine.run(
            Scenario(
                name: "", duration: 200, participants: [(0, 8)], neighbours: [(from: 30, to: 50, share: 0.5)]))
        #expect(course.transitions(from: 0, to: 30).isEmpty)
        let first = try #require(course.transitions.first)
        #expect(first.time < 31.1)
        // Each measure helps at once; nothing is late for long.
        #expect(course.latency95(from: 34, to: 50) < 0.04)
        #expect(course.level == .normal)
        let back = course.transitions(from: 50, to: 200)
        #expect(back.allSatisfy { $0.to < $0.from })
        #expect(try #require(course.transitions.last).time < 110)
    }

    @Test("when the load goes away measures are taken back in the reverse order, five seconds apart at least")
    func loadGoesAway() {
        let course = ModelMachine.run(Scenario(name: "", duration: 130, participants: [(0, 60), (20, 4)]))
        let down = course.transitions(from: 0, to: 20)
        let up = course.transitions.filter { $0.time >= 20 }
        #expect(down.map(\.to).reversed() == up.map(\.transition.from))
        #expect(course.level == .normal)
        for (earlier, later) in zip(up, up.dropFirst()) {
            #expect(((later.time - earlier.time) * 1e6).rounded() >= 5e6)
        }
    }

    @Test("a machine that stalls for a moment now and then does not count as busy")
    func stalls() {
        let stalls = stride(from: 5.0, to: 100, by: 7).map { (time: $0, length: 0.08) }
        let course = ModelMachine.run(Scenario(name: "", duration: 100, participants: [(0, 5)], stalls: stalls))
        #expect(course.transitions.isEmpty)
    }

    @Test("stalls do not keep it from going back either")
    func stallsDuringRecovery() {
        let stalls = stride(from: 5.0, to: 100, by: 7).map { (time: $0, length: 0.08) }
        let course = ModelMachine.run(
            Scenario(name: "", duration: 100, participants: [(0, 40), (10, 4)], stalls: stalls))
        #expect(course.level == .normal)
    }

    @Test("an empty relay has no measures in force")
    func empty() throws {
        let course = ModelMachine.run(Scenario(name: "", duration: 60, participants: [(0, 60), (30, 0)]))
        let last = try #require(course.transitions.last)
        #expect(last.transition.to == .normal)
        #expect(last.time < 30.5)
    }

    // MARK: Measures

    /// Applies a constant load to a policy until it has no further step.
    private func exhaust(
        _ situation: OverloadPolicy.Situation, load: Double = 1.2, busy: Double = 0.9, device: Double = 0
    ) -> (OverloadPolicy, [OverloadLevel]) {
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var levels: [OverloadLevel] = []
        for index in 0..<600 {
            let now = MonotonicInstant.zero + .milliseconds(33) * index
            overload.observe(slack: 1 - load, now: now)
            overload.observe(
                busy: .milliseconds(66) * busy, deviceTime: .milliseconds(33) * device, now: now)
            if let transition = overload.update(situation, now: now) { levels.append(transition.to) }
        }
        return (overload, levels)
    }

    @Test("a device that has no time left is spared encoders, though workers have time, and no preset helps it")
    func device() {
        var situation = OverloadPolicy.Situation()
        situation.presetCosts = [.fastest: 0.004, .balanced: 0.004, .quality: 0.004]
        situation.encoders = 8
        situation.leastEncoders = 1
        situation.encoderBudget = 8
        let levels = exhaust(situation, busy: 0.2, device: 0.9).1
        #expect(levels.starts(with: [.halfEncoders, .oneEncoder, .reducedFrameRate]))
        // With time left on both, ticks are late for another reason.
        #expect(exhaust(situation, busy: 0.2, device: 0.5).1.isEmpty)
    }

    @Test("measures that would change nothing are passed over")
    func voidMeasures() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .fastest
        situation.encoders = 1
        situation.leastEncoders = 1
        situation.encoderBudget = 1
        #expect(exhaust(situation).1 == [.reducedFrameRate, .halfFrameRate, .refusingJoins])
        situation.preset = .quality
        situation.personalPictures = 5
        situation.encoders = 6
        situation.encoderBudget = 6
        let (overload, levels) = exhaust(situation)
        #expect(OverloadLevel.allCases.dropFirst().elementsEqual(levels.uniqued))
        // Of six personal pictures four are left, then three, then none.
        #expect(levels.count { $0 == .fewerPersonalViews } == 2)
        #expect(
            overload.limits
                == WorkLimits(
                    preset: .fastest, maximumEncoders: 1, personalViews: 0, maximumFrameRate: 15,
                    admitsJoins: false))
        // A preset that was measured to save nothing is none.
        situation.presetCosts = [.fastest: 0.003, .balanced: 0.003, .quality: 0.004]
        #expect(exhaust(situation).1.prefix(2) == [.cheaperPreset, .fewerPersonalViews])
    }

    @Test("ticks that are late while workers have time left ask for shorter jobs, not for fewer")
    func latenessAlone() {
        var situation = OverloadPolicy.Situation()
        situation.personalPictures = 5
        situation.encoders = 6
        situation.encoderBudget = 6
        #expect(exhaust(situation, busy: 0.6).1 == [.cheapestPreset])
    }

    @Test("of two cheaper presets the second is given back where there is time for the first")
    func presets() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .quality
        situation.presetCosts = [.fastest: 0.002, .balanced: 0.003, .quality: 0.006]
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var levels: [OverloadLevel] = []
        for index in 0..<900 {
            let now = MonotonicInstant.zero + .milliseconds(33) * index
            let isLoaded = !levels.contains(.cheapestPreset)
            overload.observe(slack: isLoaded ? 0 : 0.55, now: now)
            overload.observe(busy: .milliseconds(66) * (isLoaded ? 0.6 : 0.4), now: now)
            if let transition = overload.update(situation, now: now) { levels.append(transition.to) }
        }
        // A load of 0.45 becomes 0.68 with the balanced preset, and would be too much with the next.
        #expect(levels == [.cheaperPreset, .cheapestPreset, .cheaperPreset])
        #expect(overload.limits.preset == .balanced)
    }

    @Test("personal pictures are taken step by step, and given back so")
    func personalViews() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .fastest
        situation.personalPictures = 15
        situation.encoders = 1
        situation.leastEncoders = 1
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var views: [Int?] = []
        for index in 0..<900 {
            let now = MonotonicInstant.zero + .milliseconds(33) * index
            let isLoaded = index < 150
            overload.observe(slack: isLoaded ? 0 : 0.9, now: now)
            overload.observe(busy: .milliseconds(66) * (isLoaded ? 0.9 : 0.1), now: now)
            if overload.update(situation, now: now) != nil { views.append(overload.limits.personalViews) }
        }
        #expect(views.starts(with: [12, 9, 6]))
        #expect(views.suffix(3) == [9, 12, nil])
    }

    @Test("half of the encoders are half of those that there were when the measure was taken")
    func halfOfTheEncoders() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .fastest
        situation.encoders = 9
        situation.leastEncoders = 1
        situation.encoderBudget = 9
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var index = 0
        func run(until level: OverloadLevel, slack: Double) {
            while overload.level != level, index < 5000 {
                let now = MonotonicInstant.zero + .milliseconds(33) * index
                overload.observe(slack: slack, now: now)
                overload.observe(busy: .milliseconds(66) * (slack > 0 ? 0.1 : 0.9), now: now)
                _ = overload.update(situation, now: now)
                index += 1
            }
        }
        run(until: .halfEncoders, slack: 0)
        #expect(overload.limits.maximumEncoders == 5)
        situation.encoders = 5
        run(until: .oneEncoder, slack: 0)
        #expect(overload.limits.maximumEncoders == 1)
        situation.encoders = 1
        run(until: .halfEncoders, slack: 0.9)
        #expect(overload.limits.maximumEncoders == 5)
    }

    @Test("a measure that was taken back in vain stays for five minutes while the load is the same")
    func relapses() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .balanced
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var recoveries: [Double] = []
        var index = 0
        // The load is too much without the measure, and looks like enough room with it.
        while recoveries.count < 4, index < 30_000 {
            let now = MonotonicInstant.zero + .milliseconds(33) * index
            overload.observe(slack: overload.level == .normal ? 0 : 0.8, now: now)
            if let transition = overload.update(situation, now: now), transition.to == .normal {
                recoveries.append(Double(index) * 0.033)
            }
            index += 1
        }
        let gaps = zip(recoveries, recoveries.dropFirst()).map { $1 - $0 }
        #expect(gaps.count == 3)
        for gap in gaps { #expect((295...325).contains(gap), "\(gaps)") }
    }

    /// Loads of personal views, from just too many to far too many.
    static let personalCounts = [13, 14, 16, 18, 20, 24, 30]

    @Test("five minutes of a constant load take no measure back that is needed again", arguments: personalCounts)
    func neverFlaps(count: Int) {
        let course = ModelMachine.run(Scenario(name: "", duration: 330, participants: [(0, count)]))
        let levels = course.transitions(from: 0, to: 330).map(\.to)
        #expect(!levels.isEmpty)
        #expect(levels == levels.sorted(), "\(levels.map(\.name))")
    }

    @Test("sixteen personal views keep the processors at 85 % or more while measures are taken, at 30 a second")
    func sixteenPersonalViews() {
        let course = ModelMachine.run(Scenario(name: "", duration: 60, participants: [(0, 16)]))
        #expect(!course.transitions.isEmpty)
        #expect(course.transitions.allSatisfy { $0.transition.to < .reducedFrameRate })
        let last = course.transitions.last?.time ?? 0
        #expect(last < 6)
        #expect(course.busy(from: 0, to: last) >= 0.85)
        #expect(course.missed(from: last + 1, to: 60) < 0.01)
    }

    @Test("the frame rate falls last, to 20 and then to 15 a second; and rises five seconds after there is time")
    func frameRates() throws {
        let course = ModelMachine.run(Scenario(name: "", duration: 120, participants: [(0, 160), (40, 6)]))
        let down = course.transitions(from: 0, to: 40).map(\.to)
        #expect(down.contains(.reducedFrameRate))
        #expect(down == down.sorted())
        let first = try #require(course.transitions.first { $0.time >= 40 })
        #expect(first.time <= 46.5)
        #expect(course.level == .normal)
    }
}

extension [OverloadLevel] {
    /// Without repetitions one after the other.
    fileprivate var uniqued: [OverloadLevel] {
        enumerated().filter { $0.offset == 0 || self[$0.offset - 1] != $0.element }.map { $0.element }
    }
}

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
        #expect(levels.count >= 3)
        #expect(levels == levels.sorted())
        #expect(Set(levels).count == levels.count)
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

    @Test("when the load falls, measures are undone in reverse order, at least ten seconds apart")
    func loadGoesAway() {
        let course = ModelMachine.run(Scenario(name: "", duration: 130, participants: [(0, 60), (20, 4)]))
        let down = course.transitions(from: 0, to: 20)
        let up = course.transitions.filter { $0.time >= 20 }
        #expect(down.map(\.to).reversed() == up.map(\.transition.from))
        #expect(course.level == .normal)
        for (earlier, later) in zip(up, up.dropFirst()) { #expect(later.time - earlier.time >= 10) }
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
    private func exhaust(_ situation: OverloadPolicy.Situation, load: Double = 1.2) -> (OverloadPolicy, [OverloadLevel])
    {
        var overload = OverloadPolicy(workers: 2, now: .zero)
        var levels: [OverloadLevel] = []
        for index in 0..<600 {
            let now = MonotonicInstant.zero + .milliseconds(33) * index
            overload.observe(slack: 1 - load, now: now)
            if let transition = overload.update(situation, now: now) { levels.append(transition.to) }
        }
        return (overload, levels)
    }

    @Test("measures that would change nothing are passed over")
    func voidMeasures() {
        var situation = OverloadPolicy.Situation()
        situation.preset = .fastest
        situation.encoders = 1
        situation.leastEncoders = 1
        situation.encoderBudget = 1
        #expect(exhaust(situation).1 == [.halfFrameRate, .refusingJoins])
        situation.preset = .quality
        situation.personalPictures = 5
        situation.encoders = 6
        situation.encoderBudget = 6
        let (overload, levels) = exhaust(situation)
        #expect(levels == Array(OverloadLevel.allCases.dropFirst()))
        #expect(
            overload.limits
                == WorkLimits(
                    preset: .fastest, maximumEncoders: 1, forcesSharedView: true, frameRateDivisor: 2,
                    admitsJoins: false))
        // A preset that was measured to save nothing is none.
        situation.presetCosts = [.fastest: 0.003, .balanced: 0.003, .quality: 0.004]
        #expect(exhaust(situation).1.prefix(2) == [.cheaperPreset, .sharedView])
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

    @Test("after a relapse it waits twice as long")
    func patience() {
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
        for (gap, expected) in zip(gaps, [20.0, 40, 80]) { #expect(abs(gap - expected) < 3, "\(gaps)") }
    }
}

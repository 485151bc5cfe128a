import MediaCore
import Testing

@testable import EncoderSharing

/// The assignment of receivers to shared encoders, with made-up rates.
@Suite struct EncodeGroupPlannerTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private static let step = Duration.milliseconds(100)

    /// Receivers of one picture with these rates in kbit/s, numbered from 1.
    private func receivers(_ kilobits: [Double], pictures: [Int]? = nil) -> [EncodeGroupPlanner.Receiver] {
        kilobits.enumerated().map { index, rate in
            EncodeGroupPlanner.Receiver(
                id: ParticipantID(rawValue: UInt64(index + 1)), picture: pictures?[index] ?? 0, format: 0,
                target: .kilobits(rate))
        }
    }

    private func run(
        _ planner: inout PlannedGroups, _ receivers: [EncodeGroupPlanner.Receiver], budget: Int?,
        from begin: MonotonicInstant, for duration: Duration
    ) -> MonotonicInstant {
        var now = begin
        while now < begin + duration {
            planner.update(receivers, budget: budget, now: now)
            now += Self.step
        }
        return now
    }

    /// The members of each group, by number.
    private func members(_ planner: PlannedGroups) -> Set<Set<UInt64>> {
        Set(planner.groups.map { Set($0.members.map(\.rawValue)) })
    }

    @Test("receivers of one rate share an encoder even if there are enough for everybody")
    func difference() {
        var planner = PlannedGroups(hasLayers: true)
        planner.update(receivers([1000, 1000, 1000, 500]), budget: 4, now: Self.start)
        #expect(members(planner) == [[1, 2, 3], [4]])
        var now = run(&planner, receivers([1000, 1000, 1000, 1000]), budget: 8, from: Self.start, for: .seconds(20))
        #expect(planner.groups.count == 1)
        // Encoders of their own pay where rates come to differ.
        now = run(&planner, receivers([400, 800, 1600, 3200]), budget: 8, from: now, for: .seconds(30))
        #expect(members(planner) == [[1], [2], [3], [4]])
    }

    @Test("without a bound everyone has an encoder of their own")
    func dedicated() {
        var unlimited = PlannedGroups(hasLayers: true)
        unlimited.update(receivers(Array(repeating: 700, count: 20)), budget: nil, now: Self.start)
        #expect(unlimited.groups.count == 20)
    }

    @Test("receivers of equal rates share one encoder, at their rate")
    func equalRatesShare() {
        var planner = PlannedGroups(hasLayers: true)
        let rates = receivers([1000, 1010, 990, 1000, 1005, 1000])
        _ = run(&planner, rates, budget: 4, from: Self.start, for: .seconds(20))
        #expect(planner.groups.count == 1)
        #expect(planner.groups[0].rate > .kilobits(980) && planner.groups[0].rate < .kilobits(1020))
    }

    @Test("groups whose members have come to have the same rate become one, and stay so though targets waver")
    func alikeGroupsMerge() {
        var random = SeededGenerator(seed: 4)
        var planner = PlannedGroups(hasLayers: true)
        let different = receivers([1400, 1400, 1400, 1400, 1400, 600, 600, 600, 600])
        var now = run(&planner, different, budget: 4, from: Self.start, for: .seconds(10))
        #expect(planner.groups.count == 2)
        var counts: Set<Int> = []
        for step in 0..<600 {
            let rates = receivers((0..<9).map { _ in 1400 * Double.random(in: 0.95...1.05, using: &random) })
            planner.update(rates, budget: 4, now: now)
            if step >= 120 { counts.insert(planner.groups.count) }
            now += Self.step
        }
        #expect(counts == [1])
    }

    @Test("receivers of far different rates are divided where least is lost")
    func dividesByRate() {
        var planner = PlannedGroups(hasLayers: true)
        let rates = receivers([2000, 300, 1900, 320, 2100, 800])
        _ = run(&planner, rates, budget: 3, from: Self.start, for: .seconds(20))
        #expect(members(planner) == [[1, 3, 5], [2, 4], [6]])
    }

    @Test("receivers of different pictures never share, however few encoders there are")
    func picturesDoNotMix() {
        var planner = PlannedGroups(hasLayers: true)
        let rates = receivers([1000, 1000, 1000, 1000], pictures: [0, 1, 0, 1])
        _ = run(&planner, rates, budget: 1, from: Self.start, for: .seconds(5))
        #expect(members(planner) == [[1, 3], [2, 4]])
    }

    @Test("a receiver with a new view leaves its group at once, and the others stay")
    func viewChanges() {
        var planner = PlannedGroups(hasLayers: true)
        let now = run(
            &planner, receivers([1000, 1000, 1000, 1000]), budget: 2, from: Self.start, for: .seconds(5))
        let group = planner.group(of: 1)
        // The pictures' numbers mean nothing from one tick to the next.
        planner.update(receivers([1000, 1000, 1000, 1000], pictures: [7, 3, 7, 7]), budget: 2, now: now)
        #expect(members(planner) == [[1, 3, 4], [2]])
        #expect(planner.group(of: 1) == group)
    }

    @Test("a receiver whose network falls is moved at once, without an effect on its group's rate")
    func oneFalls() throws {
        var planner = PlannedGroups(hasLayers: true)
        var rates = receivers([2000, 2000, 2000, 2000])
        let now = run(&planner, rates, budget: 2, from: Self.start, for: .seconds(10))
        #expect(planner.groups.count == 1)
        let (group, rate) = (planner.groups[0].id, planner.groups[0].rate)
        rates[1].target = .kilobits(300)
        planner.update(rates, budget: 2, now: now)
        #expect(members(planner) == [[1, 3, 4], [2]])
        #expect(planner.groups.first { $0.id == group }?.rate == rate)
        let own = try #require(planner.groups.first { $0.id != group }?.rate)
        #expect(abs(own.kilobitsPerSecond - 300) < 1)
    }

    @Test(
        "without a spare encoder, a falling member costs the others nothing for a moment, and then the rate follows it")
    func oneFallsWithoutBudget() {
        var planner = PlannedGroups(hasLayers: true)
        var rates = receivers([2000, 2000, 2000, 2000])
        var now = run(&planner, rates, budget: 1, from: Self.start, for: .seconds(10))
        rates[1].target = .kilobits(500)
        planner.update(rates, budget: 1, now: now)
        #expect(planner.groups[0].rate > .kilobits(1990))
        now = run(&planner, rates, budget: 1, from: now, for: .seconds(3))
        // Its lowest layer fits again.
        #expect(planner.groups[0].rate < .kilobits(1150))
        #expect(planner.groups[0].rate > .kilobits(490))
    }

    @Test("without a spare encoder, a member that can get the lowest layer costs the others nothing")
    func oneFallsByHalf() {
        var planner = PlannedGroups(hasLayers: true)
        var rates = receivers([2000, 2000, 2000, 2000])
        let now = run(&planner, rates, budget: 1, from: Self.start, for: .seconds(10))
        rates[1].target = .kilobits(1000)
        _ = run(&planner, rates, budget: 1, from: now, for: .seconds(30))
        #expect(planner.groups[0].rate > .kilobits(1990))
    }

    @Test("if all fall together, the rate falls with them")
    func allFall() {
        var planner = PlannedGroups(hasLayers: true)
        let now = run(&planner, receivers([2000, 2100, 1900]), budget: 1, from: Self.start, for: .seconds(10))
        planner.update(receivers([500, 510, 490]), budget: 1, now: now)
        #expect(planner.groups[0].rate < .kilobits(515))
    }

    @Test("a receiver that requests too many keyframes gets a spare encoder of its own")
    func isolation() {
        var planner = PlannedGroups(hasLayers: true)
        var rates = receivers([1000, 1000, 1000, 1000])
        var now = run(&planner, rates, budget: 2, from: Self.start, for: .seconds(5))
        rates[2].wantsIsolation = true
        now = run(&planner, rates, budget: 2, from: now, for: .seconds(1))
        #expect(members(planner) == [[1, 2, 4], [3]])
        var poor = PlannedGroups(hasLayers: true)
        _ = run(&poor, rates, budget: 1, from: now, for: .seconds(5))
        #expect(members(poor) == [[1, 2, 3, 4]])
    }

    @Test("rates that waver by a tenth move hardly anybody", arguments: [1, 2, 3] as [UInt64])
    func doesNotFlap(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var planner = PlannedGroups(hasLayers: true)
        let base = (0..<16).map { _ in Double.random(in: 300...2500, using: &random) }
        var now = Self.start
        var early: UInt64 = 0
        for step in 0..<3000 {
            let rates = base.map { $0 * Double.random(in: 0.9...1.1, using: &random) }
            planner.update(receivers(rates), budget: 4, now: now)
            now += Self.step
            if step == 300 { early = planner.moves }
        }
        // Five minutes.
        #expect(planner.moves - early <= 16, "\(planner.moves - early) moves, \(early) before")
    }

    @Test("with any joins and leaves there are no more groups than encoders or pictures, and everyone has one")
    func keepsTheBudget() {
        var random = SeededGenerator(seed: 21)
        var planner = PlannedGroups(hasLayers: true)
        var now = Self.start
        var present: [EncodeGroupPlanner.Receiver] = []
        for step in 0..<2000 {
            if Int.random(in: 0..<10, using: &random) == 0, present.count < 24 {
                present.append(
                    EncodeGroupPlanner.Receiver(
                        id: ParticipantID(rawValue: UInt64(step + 1)), picture: Int.random(in: 0...2, using: &random),
                        format: Int.random(in: 0...1, using: &random), target: .megabits(1)))
            }
            if Int.random(in: 0..<14, using: &random) == 0, !present.isEmpty {
                present.remove(at: Int.random(in: present.indices, using: &random))
            }
            for index in present.indices {
                present[index].target = .kilobits(Double.random(in: 100...3000, using: &random))
                present[index].wantsIsolation = Int.random(in: 0..<20, using: &random) == 0
                if Int.random(in: 0..<50, using: &random) == 0 {
                    present[index].picture = Int.random(in: 0...2, using: &random)
                }
            }
            let budget = 1 + step / 200
            planner.update(present, budget: budget, now: now)
            now += Self.step
            let kinds = Set(present.map { [$0.picture, $0.format] }).count
            #expect(planner.groups.count <= max(budget, kinds))
            #expect(planner.groups.flatMap(\.members).sorted() == present.map(\.id).sorted())
            for group in planner.groups {
                let members = present.filter { group.members.contains($0.id) }
                #expect(Set(members.map { [$0.picture, $0.format] }).count == 1)
                #expect(members.allSatisfy { planner.group(of: $0.id) == group.id && $0.format == group.format })
            }
        }
    }

    @Test("sixteen receivers on traces of their own get 85 % of their own rate from four encoders")
    func sixteenOnFour() {
        var random = SeededGenerator(seed: 5)
        var planner = PlannedGroups(hasLayers: true)
        var now = Self.start
        var level = (0..<16).map { _ in Double.random(in: 300...2500, using: &random) }
        var (wanted, got) = ([Double](repeating: 0, count: 16), [Double](repeating: 0, count: 16))
        // A receiver that is moved gets the new group's frames from its next keyframe on; there is at most one a
        // second.
        var followed = [EncodeGroupID?](repeating: nil, count: 16)
        var lastKeyframe: [EncodeGroupID: MonotonicInstant] = [:]
        for _ in 0..<3000 {
            for index in level.indices where Int.random(in: 0..<200, using: &random) == 0 {
                level[index] = Double.random(in: 300...2500, using: &random)
            }
            let rates = level.map { $0 * Double.random(in: 0.95...1.05, using: &random) }
            planner.update(receivers(rates), budget: 4, now: now)
            for group in planner.groups {
                let waits = group.members.contains { followed[Int($0.rawValue) - 1] != group.id }
                guard waits, lastKeyframe[group.id].map({ now - $0 >= .seconds(1) }) ?? true else { continue }
                lastKeyframe[group.id] = now
                for id in group.members { followed[Int(id.rawValue) - 1] = group.id }
            }
            for (index, rate) in rates.enumerated() {
                wanted[index] += rate
                guard let group = planner.groups.first(where: { $0.id == followed[index] }) else { continue }
                let made = group.rate.kilobitsPerSecond
                got[index] += rate >= made ? made : rate >= 0.65 * made ? rate : 0
            }
            now += Self.step
        }
        let shares = zip(got, wanted).map { $0 / $1 }
        #expect((shares.min() ?? 0) >= 0.85, "\(shares)")
        #expect(planner.moves < 16 * 60, "\(planner.moves) moves in five minutes")
    }
}

/// A planner, and the groups that it has made.
private struct PlannedGroups {
    private var planner: EncodeGroupPlanner
    private(set) var groups: [EncodeGroupPlanner.Group] = []

    init(hasLayers: Bool) { planner = EncodeGroupPlanner(hasLayers: hasLayers) }

    var moves: UInt64 { planner.moves }
    var members: [ParticipantID: EncodeGroupPlanner.Member] { planner.members }

    func group(of id: ParticipantID) -> EncodeGroupID? { groups.first { $0.members.contains(id) }?.id }

    mutating func update(
        _ receivers: [EncodeGroupPlanner.Receiver], budget: Int?, expecting: Set<EncodeGroupID> = [],
        now: MonotonicInstant
    ) {
        groups = planner.update(receivers, in: groups, budget: budget, expecting: expecting, now: now)
    }
}

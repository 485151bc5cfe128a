import MediaCore
import Testing
import VideoCoding

@testable import LoadControl

/// A machine of given speed with one room on it, on virtual time. The duration of its ticks depends on the
/// participants, on overload control's reductions, and on the share of the processors that a neighbour leaves.
struct ModelMachine {
    /// Something that happens to it, in seconds from the start.
    struct Scenario: CustomTestStringConvertible {
        var name: String
        var duration: Double
        /// The number of participants from each time on.
        var participants: [(time: Double, count: Int)]
        /// A neighbour that takes this share of the processors.
        var neighbours: [(from: Double, to: Double, share: Double)] = []
        /// Moments at which nothing runs at all for so long.
        var stalls: [(time: Double, length: Double)] = []
        var seesSelf = false
        var maximumEncoders: Int?

        var testDescription: String { name }
    }

    /// The result of a run.
    struct Course {
        var transitions: [(time: Double, transition: OverloadPolicy.Transition)] = []
        /// The times at which ticks were due, and the time from then until their last frame was ready; nil for ticks
        /// that were left out.
        var ticks: [(time: Double, latency: Double?)] = []
        var level = OverloadLevel.normal
        /// The share of the processors that each tick's work took.
        var busy: [(time: Double, share: Double)] = []

        /// The mean share of the processors that was used in a span.
        func busy(from start: Double, to end: Double) -> Double {
            let span = busy.filter { $0.time >= start && $0.time < end }
            return span.isEmpty ? 0 : span.reduce(0) { $0 + min($1.share, 1) } / Double(span.count)
        }

        /// The latency that 95 % of the frames in a span stay below, in seconds.
        func latency95(from start: Double, to end: Double) -> Double {
            let sorted = ticks.filter { $0.time >= start && $0.time < end }.compactMap(\.latency).sorted()
            return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
        }

        /// The share of the ticks in a span that were left out.
        func missed(from start: Double, to end: Double) -> Double {
            let span = ticks.filter { $0.time >= start && $0.time < end }
            return span.isEmpty ? 0 : Double(span.count { $0.latency == nil }) / Double(span.count)
        }

        func transitions(from start: Double, to end: Double) -> [OverloadPolicy.Transition] {
            transitions.filter { $0.time >= start && $0.time < end }.map(\.transition)
        }
    }

    static let cores = 2.0
    static let frameRate = 30.0
    private static let decode = 0.00035
    private static let composeSource = 0.00015
    private static let composePicture = 0.0006
    private static let encode = (balanced: 0.0032, fastest: 0.0026)

    private let scenario: Scenario
    private var overload = OverloadPolicy(workers: Int(cores), now: .zero)
    private var random = SeededGenerator(seed: 11)
    private var course = Course()
    /// The processors' remaining work, in seconds.
    private var backlog = 0.0

    static func run(_ scenario: Scenario) -> Course {
        var machine = ModelMachine(scenario: scenario)
        machine.run()
        return machine.course
    }

    private init(scenario: Scenario) {
        self.scenario = scenario
    }

    private mutating func run() {
        var (time, lastUpdate) = (0.0, 0.0)
        while time < scenario.duration {
            tick(time: time)
            time += 1 / frameRate
            guard time - lastUpdate >= 0.099 else { continue }
            lastUpdate = time
            if let transition = overload.update(situation(at: time), now: Self.instant(time)) {
                course.transitions.append((time, transition))
            }
        }
        course.level = overload.level
    }

    private static func instant(_ time: Double) -> MonotonicInstant { .zero + .seconds(time) }

    private func participants(at time: Double) -> Int {
        scenario.participants.last { $0.time <= time }?.count ?? 0
    }

    /// Different pictures in a room of so many.
    private func pictures(_ count: Int) -> Int {
        guard !scenario.seesSelf else { return min(1, count) }
        guard let personal = overload.limits.personalViews, personal < count else { return count }
        return min(count, personal + 1)
    }

    private func encoders(_ count: Int) -> Int {
        let budget = overload.limits.maximumEncoders ?? scenario.maximumEncoders ?? count
        return min(count, max(budget, pictures(count)), scenario.seesSelf ? count : pictures(count))
    }

    private func situation(at time: Double) -> OverloadPolicy.Situation {
        let count = participants(at: time)
        var situation = OverloadPolicy.Situation()
        situation.personalPictures = scenario.seesSelf ? 0 : max(0, count - 1)
        situation.encoders = encoders(count)
        situation.leastEncoders = pictures(count)
        situation.encoderBudget = scenario.maximumEncoders ?? count
        situation.isEmpty = count == 0
        return situation
    }

    private var frameRate: Double { overload.limits.maximumFrameRate.map(Double.init) ?? Self.frameRate }

    private mutating func tick(time: Double) {
        let now = Self.instant(time)
        let limits = overload.limits
        let interval = 1 / frameRate
        let count = participants(at: time)
        let speed = 1 - (scenario.neighbours.first { $0.from <= time && time < $0.to }?.share ?? 0)
        backlog = max(0, backlog - interval)
        for stall in scenario.stalls where stall.time >= time && stall.time < time + interval {
            backlog += stall.length
        }
        // Jobs vary.
        let variation = 0.9 + 0.2 * Double.random(in: 0..<1, using: &random)
        // Cameras send as many pictures as before.
        let decoding = Double(count) * Self.decode * variation / speed * (Self.frameRate / frameRate)
        backlog += decoding / Self.cores
        overload.observe(busy: .seconds(decoding), now: now)
        guard count > 0 else { return }
        guard backlog <= interval else {
            course.ticks.append((time, nil))
            overload.observeMissedTick(now: now)
            return
        }
        let pictures = pictures(count)
        let composing = (Double(count) * Self.composeSource + Double(pictures) * Self.composePicture) / speed
        let encode = limits.preset == .fastest ? Self.encode.fastest : Self.encode.balanced
        let encoding = Double(encoders(count)) * encode * variation / speed
        // A tick's composition is one job; its encodes are spread.
        let latency = backlog + composing + encoding / Self.cores
        backlog += (composing + encoding) / Self.cores
        overload.observe(busy: .seconds(composing + encoding), now: now)
        overload.observe(slack: 1 - latency / interval, now: now)
        course.busy.append((time, (decoding + composing + encoding) / Self.cores / interval))
        course.ticks.append((time, latency))
    }
}

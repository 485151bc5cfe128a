import MediaCore
import RTP
import Testing

@testable import LinkEmulation

@Suite("Queues against theory and their RFCs")
struct QueueDisciplineTests {
    private struct Run {
        var arrivals: [MonotonicInstant] = []
        var delays: [Duration] = []
        var marks = 0
        var flows: [Int: Int] = [:]
        var statistics = LinkModel<Int>.Statistics()
    }

    /// Sends packets of 1250 bytes at these times (in ms) and lets the link run dry.
    private func run(
        _ profile: LinkProfile, at times: [Double], ecn: (Int) -> ECNCodepoint = { _ in .notCapable },
        flow: (Int) -> Int = { _ in 0 }, size: (Int) -> Int = { _ in 1250 }
    ) -> Run {
        var link = LinkModel<Int>(profile: profile, seed: 1, start: .zero)
        var run = Run()
        func fetch(until end: MonotonicInstant) {
            while link.nextDelivery <= end, link.nextDelivery < .distantFuture {
                let now = link.nextDelivery
                while let delivery = link.deliverTimed(now: now) {
                    run.arrivals.append(delivery.arrived)
                    run.delays.append(delivery.queueingDelay)
                    run.flows[flow(delivery.packet), default: 0] += delivery.size.bytes
                    if delivery.ecn == .congestionExperienced { run.marks += 1 }
                }
            }
        }
        for (index, time) in times.enumerated() {
            fetch(until: at(time))
            link.send(index, size: DataSize(bytes: size(index)), ecn: ecn(index), flow: flow(index), now: at(time))
        }
        fetch(until: .distantFuture)
        run.statistics = link.statistics
        return run
    }

    @Test("a link at a fixed rate that always has a packet delivers exactly its rate")
    func fixedRate() {
        let count = 2000
        let run = run(
            LinkProfile(rate: .fixed(.megabits(8)), queue: .packets(10_000)), at: Array(repeating: 0, count: count))
        #expect(run.statistics.deliveredPackets == count)
        // 1250 bytes take 1.25 ms at 8 Mbit/s.
        #expect(run.arrivals.last == at(1.25 * Double(count)))
    }

    @Test("a trace delivers 1500 bytes for each of its lines from a full queue")
    func traceBytes() throws {
        var generator = TraceGenerator(kind: .lte, seed: 3)
        let trace = generator.trace(duration: .seconds(10))
        let run = run(
            LinkProfile(rate: .trace(trace), queue: .packets(100_000)), at: Array(repeating: 0, count: 30_000),
            size: { _ in 1500 })
        let inOnePeriod = run.arrivals.count { $0 <= .zero + trace.period }
        #expect(inOnePeriod == trace.milliseconds.count)
    }

    @Test("the wait of Poisson arrivals is that of an M/D/1 queue", arguments: [0.3, 0.5, 0.8])
    func poisson(load: Double) {
        var generator = SeededGenerator(seed: 5)
        let service = 1.25
        var time = 0.0
        let times = (0..<40_000).map { _ in
            time += generator.nextExponential(mean: .nanoseconds(Int64(service / load * 1e6))).milliseconds
            return time
        }
        let run = run(LinkProfile(rate: .fixed(.megabits(8)), queue: .packets(1_000_000)), at: times)
        let mean = run.delays.reduce(0) { $0 + $1.milliseconds } / Double(run.delays.count)
        // Pollaczek-Khinchine for a constant service time, that time included.
        let expected = service + load * service / (2 * (1 - load))
        #expect(abs(mean - expected) < 0.08 * expected)
    }

    @Test("CoDel ignores a queue that drains, and drops by its control law while a queue stands")
    func coDelControlLaw() {
        let profile = LinkProfile(
            rate: .fixed(.megabits(1)), queue: .packets(10_000), discipline: .coDel)
        // The link carries one packet each 10 ms: no queue.
        let calm = run(profile, at: (0..<500).map { Double($0) * 10 })
        #expect(calm.statistics.droppedPackets == 0)

        // Twice as many for a second, marked instead of dropped, so that the times of the decisions can be seen.
        var state = CoDel()
        var queue = PacketFIFO<Int>()
        var counters = QueueCounters()
        var marks: [Double] = []
        for index in 0..<2000 {
            queue.append(
                QueuedPacket(
                    packet: index, size: DataSize(bytes: 1250), ecn: .capable0, flow: 0, enqueued: .zero))
        }
        for index in 0..<1000 {
            let time = 100 + Double(index)
            let packet = state.dequeue(from: &queue, now: at(time), counters: &counters)
            if packet?.ecn == .congestionExperienced { marks.append(time) }
        }
        // The delay stands from the first packet on; an interval later comes the first mark, the next after
        // interval / sqrt(count) each, as RFC 8289, section 4.3, has it, to the next millisecond.
        var expected = 200.0
        var due = 200.0
        for (index, mark) in marks.prefix(10).enumerated() {
            #expect(abs(mark - expected) <= 1, "mark \(index) at \(mark), not \(expected)")
            due += 100 / Double(index + 1).squareRoot()
            expected = due.rounded(.up)
        }
        #expect(marks.count > 20)
    }

    @Test("CoDel drops packets that are not capable of marks")
    func coDelDrops() {
        let profile = LinkProfile(
            rate: .fixed(.megabits(1)), queue: .packets(10_000), discipline: .coDel)
        let times = (0..<2000).map { Double($0) * 5 }
        let dropped = run(profile, at: times)
        #expect(dropped.statistics.droppedPackets > 50)
        #expect(dropped.marks == 0)
        let marked = run(profile, at: times, ecn: { _ in .capable0 })
        #expect(marked.marks > 50)
        #expect(marked.statistics.droppedPackets == 0)
    }

    @Test("FQ-CoDel gives a greedy flow and a thin one their shares, and the thin one no queue")
    func fairQueue() {
        let profile = LinkProfile(
            rate: .fixed(.megabits(1)), queue: .packets(1000),
            discipline: .fairQueueCoDel)
        // Each 10 ms three packets of one flow; each 40 ms one of the other: 0.25 of 1 Mbit/s.
        var packets: [(time: Double, flow: Int)] = []
        for index in 0..<1000 {
            for _ in 0..<3 { packets.append((Double(index) * 10, 1)) }
            if index % 4 == 0 { packets.append((Double(index) * 10 + 5, 2)) }
        }
        let run = run(profile, at: packets.map(\.time), flow: { packets[$0].flow })
        #expect(run.flows[2] == 250 * 1250)
        #expect(run.statistics.droppedPackets > 0)
    }

    @Test("DualPI2 couples: the L4S probability is twice the base, the classic one its square")
    func coupling() {
        var control = DualPI2Control()
        // A queue of 35 ms is 20 ms above the target: p' grows by 0.15 · 0.02 + 3 · 0.035 at first, then by the
        // integral part alone.
        control.update(delay: .milliseconds(35))
        #expect(abs(control.base - (0.15 * 0.02 + 3 * 0.035)) < 1e-12)
        control.update(delay: .milliseconds(35))
        #expect(abs(control.base - (2 * 0.15 * 0.02 + 3 * 0.035)) < 1e-12)
        #expect(abs(control.coupled - 2 * control.base) < 1e-12)
        #expect(abs(control.classic - control.base * control.base) < 1e-12)
        #expect(control.native(delay: .microseconds(800)) == 0)
        #expect(abs(control.native(delay: .microseconds(1000)) - 0.5) < 1e-9)
        #expect(control.native(delay: .milliseconds(2)) == 1)
        #expect(!control.isOverloaded)
    }

    @Test("DualPI2 holds the classic queue at its target and lets L4S pass it")
    func dualQueue() {
        let profile = LinkProfile(
            rate: .fixed(.megabits(4)), queue: .packets(10_000), discipline: .dualPI2)
        var lowLatency: [Double] = []
        var link = LinkModel<Bool>(profile: profile, seed: 1, start: .zero)
        var time = 0.0
        // Classic packets at 1.05 times the rate for ten seconds, and a thin L4S flow.
        for index in 0..<4200 {
            time = Double(index) * 2.38
            link.send(false, size: DataSize(bytes: 1250), ecn: .capable0, flow: 1, now: at(time))
            if index % 20 == 0 {
                link.send(true, size: DataSize(bytes: 200), ecn: .capable1, flow: 2, now: at(time))
            }
            while let delivery = link.deliverTimed(now: at(time)) {
                if delivery.packet { lowLatency.append(delivery.queueingDelay.milliseconds) }
            }
        }
        #expect(link.statistics.markedPackets > 0)
        // At most one classic packet is in service before it.
        #expect(lowLatency.allSatisfy { $0 < 6 })
    }

    @Test("a burst-loss channel loses its share, in runs of its length")
    func gilbertElliott() {
        let model = LossModel.GilbertElliott(loss: 0.1, burstLength: 5)
        var generator = SeededGenerator(seed: 2)
        var process = LossProcess()
        let lost = (0..<60_000).map { _ in process.loses(.gilbertElliott(model), using: &generator) }
        let share = Double(lost.count { $0 }) / Double(lost.count)
        let runs = zip(lost, lost.dropFirst()).count { !$0 && $1 }
        #expect(abs(share - 0.1) < 0.015)
        #expect(abs(Double(lost.count { $0 }) / Double(runs) - 5) < 0.5)
    }

    @Test("a burst-loss channel loses its share also where that needs longer bursts", arguments: [0.9, 1])
    func heavyBursts(loss: Double) {
        let model = LossModel.GilbertElliott(loss: loss, burstLength: 2)
        var generator = SeededGenerator(seed: 2)
        var process = LossProcess()
        let lost = (0..<60_000).count { _ in process.loses(.gilbertElliott(model), using: &generator) }
        #expect(abs(Double(lost) / 60_000 - loss) < 0.01)
    }

    @Test("a policer lets its rate and its burst pass, without delay")
    func policer() {
        let profile = LinkProfile(policer: Policer(rate: .megabits(1), burst: DataSize(bytes: 12_500)))
        // Two megabits a second for ten seconds: one passes, and the burst once.
        let run = run(profile, at: (0..<2000).map { Double($0) * 5 })
        #expect((1000...1011).contains(run.statistics.deliveredPackets))
        #expect(run.delays.allSatisfy { $0 == .zero })
    }

    @Test("delay and loss change when the profile says so")
    func changes() {
        let profile = LinkProfile(
            delay: .milliseconds(10),
            changes: [
                .init(at: .milliseconds(100), delay: .milliseconds(50)), .init(at: .milliseconds(200), loss: 1),
                .init(at: .milliseconds(300), delay: .milliseconds(10), loss: 0),
            ])
        let run = run(profile, at: [0, 99, 100, 250, 300])
        #expect(run.arrivals == [at(10), at(109), at(150), at(310)])
    }
}

import MediaCore
import Testing

@testable import CongestionControl

@Suite("Pacer")
struct PacerTests {
    private func makePacer(_ rate: BitRate = .megabits(1), burst: Duration = .zero) -> Pacer<Int> {
        var pacer = Pacer<Int>(burstInterval: burst)
        pacer.setRates(pacing: rate, now: at(0))
        return pacer
    }

    /// Takes out all packets that may leave until a time, at the times that the pacer asks for; returns them with those
    /// times in ms.
    private func drain(
        _ pacer: inout Pacer<Int>, from start: Double = 0, until end: Double
    ) -> [(payload: Int, time: Double, probe: Int?)] {
        var sent: [(Int, Double, Int?)] = []
        var now = at(start)
        while now <= at(end) {
            while let (payload, probe) = pacer.dequeue(now: now) {
                sent.append((payload, Double(now.nanoseconds) / 1e6, probe))
            }
            guard let next = pacer.nextSendTime(now: now) else { break }
            now = max(next, now + .nanoseconds(1))
        }
        return sent
    }

    @Test("media leaves at the pacing rate, the first packet at once")
    func rate() {
        var pacer = makePacer()
        for index in 0..<10 { pacer.enqueue(index, size: bytes(1250), priority: .video, now: at(0)) }
        let sent = drain(&pacer, until: 1000)
        #expect(sent.map(\.payload) == Array(0..<10))
        // 1250 bytes at 1 Mbit/s: 10 ms.
        #expect(sent.enumerated().allSatisfy { abs($1.time - Double($0) * 10) < 0.01 })
    }

    @Test("packets within the burst interval leave together, at the same rate on average")
    func bursts() {
        var pacer = makePacer(.megabits(10), burst: .milliseconds(5))
        for index in 0..<100 { pacer.enqueue(index, size: bytes(1250), priority: .video, now: at(0)) }
        let atOnce = drain(&pacer, until: 0).count
        #expect(atOnce == 6 || atOnce == 5)
        let rest = drain(&pacer, from: 0.001, until: 1000)
        #expect(abs((rest.last?.time ?? 0) - 95) < 1.5)
    }

    @Test("no credit is saved up while nothing waits")
    func noCredit() {
        var pacer = makePacer()
        pacer.enqueue(0, size: bytes(1250), priority: .video, now: at(0))
        _ = drain(&pacer, until: 5000)
        for index in 1...3 { pacer.enqueue(index, size: bytes(1250), priority: .video, now: at(5000)) }
        #expect(drain(&pacer, from: 5000, until: 5005).map(\.payload) == [1])
    }

    @Test("audio leaves at once, then retransmissions, video and padding")
    func priorities() {
        var pacer = makePacer()
        pacer.enqueue(1, size: bytes(1250), priority: .padding, now: at(0))
        pacer.enqueue(2, size: bytes(1250), priority: .video, now: at(0))
        pacer.enqueue(3, size: bytes(1250), priority: .video, now: at(0))
        pacer.enqueue(4, size: bytes(1250), priority: .retransmission, now: at(0))
        pacer.enqueue(5, size: bytes(100), priority: .audio, now: at(0))
        pacer.enqueue(6, size: bytes(100), priority: .audio, now: at(0))
        #expect(drain(&pacer, until: 0).map(\.payload) == [5, 6, 4])
        #expect(drain(&pacer, until: 1000).map(\.payload) == [2, 3, 1])
    }

    @Test("before there is a rate only audio leaves")
    func noRate() {
        var pacer = Pacer<Int>()
        pacer.enqueue(1, size: bytes(1250), priority: .video, now: at(0))
        pacer.enqueue(2, size: bytes(100), priority: .audio, now: at(0))
        #expect(pacer.dequeue(now: at(0))?.payload == 2)
        #expect(pacer.dequeue(now: at(10_000)) == nil)
        #expect(pacer.nextSendTime(now: at(10_000)) == .distantFuture)
    }

    @Test("while the congestion window is full only audio leaves, and nothing else makes a wake-up")
    func held() {
        var pacer = makePacer()
        pacer.isHeld = true
        pacer.enqueue(1, size: bytes(1250), priority: .video, now: at(0))
        pacer.enqueue(2, size: bytes(1250), priority: .retransmission, now: at(0))
        pacer.enqueue(3, size: bytes(100), priority: .audio, now: at(0))
        #expect(drain(&pacer, until: 10_000).map(\.payload) == [3])
        #expect(pacer.nextSendTime(now: at(10_000)) == nil)
        #expect(pacer.paddingNeeded(now: at(10_000)) == .zero)
        pacer.isHeld = false
        #expect(drain(&pacer, from: 10_000, until: 11_000).map(\.payload) == [2, 1])
    }

    @Test("a probe leaves at its rate and marks its packets, as many as it needs")
    func probe() {
        var pacer = makePacer(.kilobits(500))
        pacer.addProbe(
            ProbeCluster(id: 9, rate: .megabits(2), minimumPackets: 5, minimumDuration: .milliseconds(15)), now: at(0))
        for index in 0..<8 { pacer.enqueue(index, size: bytes(1250), priority: .video, now: at(0)) }
        let sent = drain(&pacer, until: 400)
        let probes = sent.filter { $0.probe == 9 }
        #expect(probes.count == 5)
        // 1250 bytes at 2 Mbit/s: 5 ms.
        #expect(probes.enumerated().allSatisfy { abs($1.time - Double($0) * 5) < 0.01 })
        #expect(sent.dropFirst(5).allSatisfy { $0.probe == nil })
        #expect(sent.count == 8)
    }

    @Test("a probe ends after a bounded burst, whatever its controller asks for")
    func boundlessProbe() {
        var pacer = makePacer()
        let cluster = ProbeCluster(id: 0, rate: .megabits(2), minimumPackets: .max, minimumDuration: .seconds(100_000))
        pacer.addProbe(cluster, now: at(0))
        #expect(pacer.paddingNeeded(now: at(0)) == Prober.maximumSize)
        var (count, now) = (0, at(0))
        while count < 20_000, pacer.paddingNeeded(now: now) > .zero {
            pacer.enqueue(0, size: .packet + .packet, priority: .padding, now: now)
            _ = pacer.dequeue(now: now)
            count += 1
            now = pacer.nextSendTime(now: now) ?? now
        }
        #expect(count == Prober.maximumPacketCount)
    }

    @Test("a probe without media asks for padding, until it has enough")
    func padding() {
        var pacer = makePacer(.kilobits(500))
        pacer.addProbe(
            ProbeCluster(id: 0, rate: .megabits(2), minimumPackets: 5, minimumDuration: .milliseconds(20)), now: at(0))
        var total = 0
        var count = 0
        var now = at(0)
        while now < at(1000) {
            let wanted = pacer.paddingNeeded(now: now)
            if wanted > .zero {
                pacer.enqueue(0, size: min(max(wanted, bytes(200)), .packet), priority: .padding, now: now)
                let sent = pacer.dequeue(now: now)
                #expect(sent?.probeClusterID == 0)
                total += min(max(wanted.bytes, 200), 1200)
                count += 1
            }
            guard let next = pacer.nextSendTime(now: now) else { break }
            now = max(next, now + .nanoseconds(1))
        }
        #expect(count == 5)
        #expect(total >= 5000 && total < 6000)
        #expect(pacer.paddingNeeded(now: at(2000)) == .zero)
    }

    @Test("without padding a probe waits for media without a wake-up")
    func noPadding() {
        var pacer = Pacer<Int>(canPad: false)
        pacer.setRates(pacing: .megabits(1), now: at(0))
        pacer.addProbe(ProbeCluster(id: 0, rate: .megabits(2)), now: at(0))
        #expect(pacer.nextSendTime(now: at(0)) == nil)
        #expect(pacer.paddingNeeded(now: at(0)) == .zero)
        pacer.enqueue(1, size: .packet, priority: .video, now: at(100))
        #expect(pacer.dequeue(now: at(100))?.probeClusterID == 0)
        // Nothing follows in time, and the probe is abandoned.
        pacer.enqueue(2, size: .packet, priority: .video, now: at(200))
        let second = pacer.dequeue(now: at(200))
        #expect(second?.payload == 2)
        #expect(second?.probeClusterID == nil)
    }

    @Test("padding fills the rest of the padding rate while nothing waits")
    func paddingRate() {
        var pacer = Pacer<Int>(burstInterval: .zero)
        pacer.setRates(pacing: .megabits(2), padding: .megabits(1), now: at(0))
        // 5 ms at 1 Mbit/s.
        #expect(pacer.paddingNeeded(now: at(0)) == bytes(625))
        pacer.enqueue(1, size: bytes(1250), priority: .video, now: at(0))
        #expect(pacer.paddingNeeded(now: at(0)) == .zero)
        _ = pacer.dequeue(now: at(0))
        // 1250 bytes are 10 ms of the padding rate.
        #expect(pacer.nextSendTime(now: at(0)) == at(10))
        #expect(pacer.paddingNeeded(now: at(9)) == .zero)
        #expect(pacer.paddingNeeded(now: at(10)) == bytes(625))
        pacer.setRates(pacing: .megabits(2), now: at(10))
        #expect(pacer.paddingNeeded(now: at(20)) == .zero)
        #expect(pacer.nextSendTime(now: at(20)) == nil)
    }

    @Test("a burst that is asked for holds until another is, and then the pacer's own")
    func askedBurst() {
        var pacer = makePacer(.megabits(10))
        pacer.setRates(pacing: .megabits(10), burst: .milliseconds(40), now: at(0))
        for index in 0..<100 { pacer.enqueue(index, size: bytes(1250), priority: .video, now: at(0)) }
        // 50 kB, and the packet that exceeds them.
        let atOnce = drain(&pacer, until: 0).count
        #expect(atOnce == 41 || atOnce == 40)
        pacer.setRates(pacing: .megabits(10), now: at(0))
        #expect(pacer.nextSendTime(now: at(0)).map { $0 >= at(40) } ?? false)
    }

    @Test("stale packets can be dropped, and the accounts stay right")
    func dropping() {
        var pacer = makePacer()
        for index in 0..<6 { pacer.enqueue(index, size: bytes(1000), priority: .video, now: at(Double(index))) }
        #expect(pacer.removeAll { $0 < 4 } == 4)
        #expect(pacer.queuedSize == bytes(2000))
        #expect(pacer.waitingCount == 2)
        #expect(pacer.queueDelay(now: at(10)) == .milliseconds(6))
        #expect(pacer.expectedDrainTime == .milliseconds(16))
        #expect(drain(&pacer, from: 10, until: 1000).map(\.payload) == [4, 5])
        #expect(pacer.queuedSize == .zero)
        #expect(pacer.queueDelay(now: at(2000)) == .zero)
    }
}

import MediaCore
import Testing

@testable import LinkEmulation

func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1e6))
}

@Suite("Link model")
struct LinkModelTests {
    /// Sends packets of 1250 bytes at these times and returns the packets that came out, with their times in ms.
    private func deliveries(_ profile: LinkProfile, sentAt times: [Double], seed: UInt64 = 1) -> [(Int, Double)] {
        var link = LinkModel<Int>(profile: profile, seed: seed, start: at(0))
        for (index, time) in times.enumerated() {
            link.send(index, size: DataSize(bytes: 1250), now: at(time))
        }
        var out: [(Int, Double)] = []
        while link.nextDelivery < .distantFuture {
            let now = link.nextDelivery
            while let packet = link.deliver(now: now) { out.append((packet, Double(now.nanoseconds) / 1e6)) }
        }
        return out
    }

    @Test("a fixed rate spaces packets, and an idle link takes them at once")
    func fixedRate() {
        let out = deliveries(
            LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20)), sentAt: [0, 0, 0, 100])
        #expect(out.map(\.0) == [0, 1, 2, 3])
        #expect(out.map(\.1) == [30, 40, 50, 130])
    }

    @Test("nothing comes out before its time")
    func notBefore() {
        var link = LinkModel<Int>(
            profile: LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20)), seed: 1, start: at(0))
        link.send(7, size: DataSize(bytes: 1250), now: at(0))
        #expect(link.nextDelivery == at(30))
        #expect(link.deliver(now: at(29.9)) == nil)
        #expect(link.deliver(now: at(30)) == 7)
        #expect(link.nextDelivery == .distantFuture)
    }

    @Test("a step in the rate holds for the packet that is on its way through")
    func steps() {
        let steps: LinkRate = .steps([
            .init(at: .zero, rate: .megabits(1)), .init(at: .milliseconds(5), rate: .kilobits(500)),
        ])
        // Half of it in 5 ms, the other half in 10 ms.
        #expect(deliveries(LinkProfile(rate: steps), sentAt: [0]).map(\.1) == [15])
    }

    @Test("a rate of zero holds packets until the rate returns, or for ever")
    func outage() {
        let back: LinkRate = .steps([
            .init(at: .zero, rate: .zero), .init(at: .seconds(1), rate: .megabits(1)),
        ])
        #expect(deliveries(LinkProfile(rate: back), sentAt: [0]).map(\.1) == [1010])
        let gone: LinkRate = .steps([.init(at: .zero, rate: .zero)])
        #expect(deliveries(LinkProfile(rate: gone), sentAt: [0, 10]).isEmpty)
    }

    @Test("a trace delivers 1500 bytes an opportunity, leftovers go to the next packet, and it repeats")
    func trace() throws {
        let trace = try DeliveryTrace(parsing: "10\n20\n20\n50\n")
        // 1250 bytes leave at 10, and 250 of the second with them; 1000 more and 250 of the third at 20; then 1000.
        let out = deliveries(
            LinkProfile(rate: .trace(trace), queue: .packets(100)), sentAt: [0, 0, 0, 0, 55, 61])
        #expect(out.map(\.1) == [10, 20, 20, 50, 60, 70])
    }

    @Test("opportunities that nobody uses are lost")
    func unusedOpportunities() throws {
        let trace = try DeliveryTrace(parsing: "10\n20\n30\n")
        let out = deliveries(LinkProfile(rate: .trace(trace)), sentAt: [25, 25])
        #expect(out.map(\.1) == [30, 40])
        // The capacity of a time span counts them all.
        #expect(
            LinkRate.trace(trace).capacity(from: .milliseconds(15), to: .milliseconds(65))
                == DataSize(bytes: 5 * 1500))
    }

    @Test("an unlimited link only delays")
    func unlimited() {
        #expect(deliveries(LinkProfile(delay: .milliseconds(5)), sentAt: [0, 0, 3]).map(\.1) == [5, 5, 8])
    }

    @Test("a full queue drops arriving packets, measured in bytes, packets or time")
    func dropTail() {
        for limit: QueueLimit in [.size(DataSize(bytes: 3750)), .packets(3), .duration(.milliseconds(30))] {
            let out = deliveries(
                LinkProfile(rate: .fixed(.megabits(1)), queue: limit), sentAt: [0, 0, 0, 0, 0, 10, 10])
            // One left at 10 ms and made room for one.
            #expect(out.map(\.0) == [0, 1, 2, 5])
        }
    }

    @Test("jitter keeps the order unless the link may reorder")
    func jitter() {
        var profile = LinkProfile(delay: .milliseconds(10), jitter: .milliseconds(20))
        let times = (0..<200).map { Double($0) }
        let inOrder = deliveries(profile, sentAt: times)
        #expect(inOrder.map(\.0) == Array(0..<200))
        #expect(inOrder.enumerated().allSatisfy { $1.1 >= Double($0) + 10 && $1.1 <= Double($0) + 30 })
        profile.reorders = true
        let reordered = deliveries(profile, sentAt: times)
        #expect(reordered.map(\.0) != Array(0..<200))
        #expect(reordered.map(\.0).sorted() == Array(0..<200))
        #expect(zip(reordered, reordered.dropFirst()).allSatisfy { $0.1 <= $1.1 })
    }

    @Test("loss takes about its part, the same for the same seed")
    func loss() {
        let profile = LinkProfile(loss: 0.1)
        let times = (0..<5000).map { Double($0) }
        let first = deliveries(profile, sentAt: times).map(\.0)
        #expect((4400...4600).contains(first.count))
        #expect(deliveries(profile, sentAt: times).map(\.0) == first)
        #expect(deliveries(profile, sentAt: times, seed: 2).map(\.0) != first)
    }

    @Test("the time in the queue is separate from the delay")
    func timing() throws {
        var link = LinkModel<Int>(
            profile: LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20)), seed: 1, start: at(0))
        for index in 0..<3 { link.send(index, size: DataSize(bytes: 1250), now: at(0)) }
        #expect(link.queueDelay(now: at(5)) == .milliseconds(25))
        var delays: [Duration] = []
        while let delivery = link.deliverTimed(now: at(100)) { delays.append(delivery.queueingDelay) }
        #expect(delays == [.milliseconds(10), .milliseconds(20), .milliseconds(30)])
        #expect(link.statistics.deliveredPackets == 3)
    }
}

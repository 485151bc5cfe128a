import CongestionControl
import FlightRecording
import LinkEmulation
import MediaCore
import Simulation
import Testing

@Suite("The link of a recording")
struct FlightLinkEstimateTests {
    private func analysis(_ bytes: [UInt8]) throws -> FlightAnalysis {
        var decoder = try FlightDecoder(bytes)
        var analysis = FlightAnalysis(header: decoder.header)
        while let record = try decoder.next() { analysis.add(record) }
        return analysis
    }

    private func estimate(_ bytes: [UInt8]) throws -> FlightLinkEstimate {
        let analysis = try analysis(bytes)
        return try #require(FlightLinkEstimate(path: analysis.path, duration: analysis.duration))
    }

    /// Rates in Mbit/s, second by second.
    private func rates(_ milliseconds: [Int64], seconds: Int) -> [Double] {
        var rates = [Double](repeating: 0, count: seconds)
        for time in milliseconds where Int(time / 1000) < seconds { rates[Int(time / 1000)] += 0.012 }
        return rates
    }

    @Test("a fixed rate that is always too little is found within two percent")
    func fixedRate() throws {
        let limits = RateLimits(minimum: .kilobits(150), start: .megabits(2), maximum: .megabits(4))
        let link = LinkProfile(
            rate: .fixed(.megabits(1)), delay: .milliseconds(40), queue: .duration(.milliseconds(300)))
        let estimate = try estimate(recordedFlow(.fixed, link: link, limits: limits, duration: .seconds(10)))
        #expect(estimate.measuredPart > 0.95)
        for rate in rates(estimate.milliseconds, seconds: 10).dropFirst().dropLast() {
            #expect(abs(rate - 1) < 0.02, "\(rate)")
        }
    }

    @Test("a step of the rate is found where it was", arguments: [TestController.google, .confrelay])
    func step(kind: TestController) throws {
        let link = LinkProfile(
            rate: .steps([
                LinkRate.Step(at: .zero, rate: .megabits(2)),
                LinkRate.Step(at: .seconds(10), rate: .kilobits(800)),
            ]), delay: .milliseconds(20), queue: .duration(.milliseconds(300)))
        let estimate = try estimate(recordedFlow(kind, link: link, duration: .seconds(20)))
        let rates = rates(estimate.milliseconds, seconds: 20)
        for second in 6..<9 { #expect(abs(rates[second] - 2) < 0.25, "\(second): \(rates[second])") }
        for second in 11..<19 { #expect(abs(rates[second] - 0.8) < 0.1, "\(second): \(rates[second])") }
    }

    @Test("the trace that a flow went over comes back, outages with it")
    func trace() throws {
        var generator = TraceGenerator(kind: .train, seed: 4)
        let trace = generator.trace(duration: .seconds(30))
        let limits = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))
        let link = LinkProfile(rate: .trace(trace), delay: .milliseconds(20), queue: .duration(.milliseconds(300)))
        let estimate = try estimate(recordedFlow(.confrelay, link: link, limits: limits, duration: .seconds(30)))
        let expected = rates(trace.milliseconds, seconds: 30)
        let found = rates(estimate.milliseconds, seconds: 30)
        // The first seconds are those in which the controller finds the rate.
        let pairs = Array(zip(expected, found).dropFirst(3).dropLast())
        let total = pairs.reduce(0) { $0 + $1.0 }
        let error = pairs.reduce(0) { $0 + abs($1.0 - $1.1) }
        #expect(abs(pairs.reduce(0) { $0 + $1.1 } - total) < 0.08 * total)
        #expect(error < 0.12 * total, "\(pairs)")
        #expect(estimate.measuredPart > 0.5)
        // It is a trace that a simulation takes.
        #expect(DeliveryTrace(milliseconds: estimate.milliseconds)?.period == .seconds(30))
    }

    @Test("a link that never had a queue gives no estimate")
    func noQueue() throws {
        let link = LinkProfile(rate: .unlimited, delay: .milliseconds(20))
        let analysis = try analysis(recordedFlow(.fixed, link: link, duration: .seconds(5)))
        #expect(analysis.receivedPacketCount > 100)
        #expect(FlightLinkEstimate(path: analysis.path, duration: analysis.duration) == nil)
    }

    @Test("queueing delay and goodput are those of the link, without its propagation delay")
    func analysis() throws {
        let limits = RateLimits(minimum: .kilobits(150), start: .megabits(2), maximum: .megabits(4))
        let link = LinkProfile(
            rate: .fixed(.megabits(1)), delay: .milliseconds(40), queue: .duration(.milliseconds(300)))
        let analysis = try analysis(recordedFlow(.fixed, link: link, limits: limits, duration: .seconds(10)))
        let path = analysis.path
        let delays = path.packets.map(\.queueingDelay.milliseconds).sorted()
        #expect(delays[0] == 0)
        #expect(
            (250...310).contains(delays[delays.count / 2]), "the queue of 300 ms is full: \(delays[delays.count / 2])")
        let goodput = BitRate(analysis.receivedSize, over: analysis.duration)
        #expect(abs(goodput.kilobitsPerSecond - 1000) < 60, "\(goodput)")
        #expect(analysis.target.minimum == .megabits(2) && analysis.target.mean == .megabits(2))
        #expect(analysis.missingPacketCount > 100)
        let course = analysis.course(path: path)
        #expect(course.count == 50 || course.count == 51)
        #expect(course.dropFirst(10).dropLast(3).allSatisfy { abs(Double($0.received.bytes) * 40 - 1e6) < 1.5e5 })
    }
}

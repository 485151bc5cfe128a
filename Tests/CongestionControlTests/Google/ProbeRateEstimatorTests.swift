import MediaCore
import Testing

@testable import CongestionControl

@Suite("Capacity from probes and overuse")
struct ProbeRateEstimatorTests {
    private func probe(sendInterval: Double, receiveInterval: Double, count: Int = 6) -> BitRate? {
        var estimator = ProbeRateEstimator()
        estimator.expect(
            ProbeCluster(id: 7, rate: .megabits(1), minimumPackets: 5, minimumDuration: .milliseconds(15)))
        var result: BitRate?
        for index in 0..<count {
            let packet = SentPacket(
                transportSequence: Int64(index), size: bytes(1000), sendTime: at(Double(index) * sendInterval),
                probeClusterID: 7)
            result = estimator.add(packet, receiveTime: at(500 + Double(index) * receiveInterval))
        }
        return result
    }

    @Test("a probe that arrives as it was sent shows its own rate")
    func unsaturatedProbe() {
        #expect(probe(sendInterval: 8, receiveInterval: 8) == .megabits(1))
        // A probe that arrives a little faster than it was sent proves no more than the sent rate.
        #expect(probe(sendInterval: 8, receiveInterval: 7) == .megabits(1))
    }

    @Test("a probe that arrives slower than it was sent shows the path's rate, less a margin")
    func saturatedProbe() {
        #expect(probe(sendInterval: 8, receiveInterval: 16) == .kilobits(475))
    }

    @Test("a probe gives no result if too little of it arrived or it was sent all at once")
    func uselessProbe() {
        #expect(probe(sendInterval: 8, receiveInterval: 8, count: 3) == nil)
        #expect(probe(sendInterval: 8, receiveInterval: 2) == nil)
        #expect(probe(sendInterval: 8, receiveInterval: 0) == nil)
        #expect(probe(sendInterval: 0, receiveInterval: 8) == nil)
        #expect(probe(sendInterval: 300, receiveInterval: 300) == nil)
    }

    @Test("packets of clusters that nobody asked for are ignored")
    func unknownCluster() {
        var estimator = ProbeRateEstimator()
        for index in 0..<10 {
            let packet = SentPacket(
                transportSequence: Int64(index), size: bytes(1000), sendTime: at(Double(index) * 8),
                probeClusterID: 3)
            #expect(estimator.add(packet, receiveTime: at(Double(index) * 8)) == nil)
        }
    }

    @Test("the link capacity is an average with bounds of three deviations")
    func linkCapacity() throws {
        var capacity = LinkCapacityEstimator()
        #expect(capacity.rate == nil)
        capacity.overuseDetected(at: .kilobits(1000))
        #expect(capacity.rate == .kilobits(1000))
        // The smallest variance: 0.4 of the average; three times its root is 60 kbit/s.
        #expect(capacity.upperBound == .kilobits(1060))
        #expect(capacity.lowerBound == .kilobits(940))
        capacity.overuseDetected(at: .kilobits(800))
        #expect(capacity.rate == .kilobits(990))
        let upper = try #require(capacity.upperBound)
        #expect(upper > .kilobits(1060))
        capacity.reset()
        #expect(capacity.rate == nil)
    }
}

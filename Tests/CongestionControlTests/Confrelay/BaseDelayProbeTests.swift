import MediaCore
import Testing

@testable import CongestionControl

@Suite("Pauses to see the empty path")
struct BaseDelayProbeTests {
    private var path = PathModel(start: 125_000, SharedParameters(ConfrelayParameters()))
    private var probe = BaseDelayProbe(parameters: ConfrelayParameters())
    private var sequence: Int64 = 0

    /// A packet of 100 bytes each 20 ms that takes so long, and 20 ms more until feedback of it.
    private mutating func send(delay: Double, from start: Double, to end: Double) {
        for time in stride(from: start, to: end, by: 20) {
            let packet = SentPacket(transportSequence: sequence, size: bytes(100), sendTime: at(time))
            sequence += 1
            path.packetSent(packet)
            let arrival = time + delay
            let now = at(arrival + 20)
            path.feedbackReceived(
                newestSequence: packet.transportSequence, newestArrival: arrival / 1e3, now: now)
            _ = path.packetArrived(packet, at: arrival / 1e3, now: now)
            probe.update(path: &path, now: now)
        }
    }

    @Test("no pause while the empty path is seen")
    mutating func none() {
        send(delay: 20, from: 0, to: 30_000)
        #expect(!probe.isActive)
    }

    @Test("a pause ends when the empty path is seen")
    mutating func seen() {
        send(delay: 20, from: 0, to: 1000)
        send(delay: 35, from: 1000, to: 9200)
        #expect(probe.isActive)
        send(delay: 21, from: 9200, to: 9240)
        #expect(!probe.isActive)
    }

    @Test("a pause without feedback gives no result, and is repeated a second later")
    mutating func silent() {
        send(delay: 20, from: 0, to: 1000)
        send(delay: 35, from: 1000, to: 9100)
        #expect(probe.isActive)
        probe.update(path: &path, now: at(12_000))
        #expect(!probe.isActive)
        send(delay: 35, from: 12_100, to: 12_400)
        #expect(!probe.isActive)
        send(delay: 35, from: 12_400, to: 13_300)
        #expect(probe.isActive)
    }

    @Test("a pause without a result ends after 300 ms, a round trip and the queue")
    mutating func unseen() {
        send(delay: 20, from: 0, to: 1000)
        send(delay: 35, from: 1000, to: 9100)
        #expect(probe.isActive)
        send(delay: 35, from: 9100, to: 9300)
        #expect(probe.isActive)
        send(delay: 35, from: 9300, to: 9500)
        #expect(!probe.isActive)
    }
}

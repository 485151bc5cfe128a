import MediaCore
import Testing

@testable import CongestionControl

@Suite("Packets in silence")
struct KeepAliveTests {
    private var keepAlive = KeepAlive(parameters: ConfrelayParameters())

    @Test("half a second of silence lets one packet leave each 100 ms")
    mutating func silence() {
        keepAlive.heard(now: at(1000))
        keepAlive.update(oldest: at(1000), packetTime: 0, now: at(1500))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(1000), packetTime: 0, now: at(1505))
        #expect(keepAlive.allowsPacket)
        keepAlive.packetSent()
        keepAlive.update(oldest: at(1000), packetTime: 0, now: at(1600))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(1000), packetTime: 0, now: at(1605))
        #expect(keepAlive.allowsPacket)
        keepAlive.heard(now: at(1610))
        #expect(!keepAlive.allowsPacket)
    }

    @Test("on a slow path the packets during silence take a tenth of its rate")
    mutating func slowPath() {
        keepAlive.heard(now: at(1000))
        var sent = 0
        for time in stride(from: 1000.0, to: 6000, by: 5) {
            keepAlive.update(oldest: at(1000), packetTime: 0.1, now: at(time))
            if keepAlive.allowsPacket { sent += 1 }
            keepAlive.packetSent()
        }
        #expect(sent == 5)
    }

    @Test("silence counts from when there was something to answer")
    mutating func pause() {
        keepAlive.heard(now: at(1000))
        keepAlive.update(oldest: nil, packetTime: 0, now: at(5000))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(4900), packetTime: 0, now: at(5000))
        #expect(!keepAlive.allowsPacket)
    }
}

import MediaCore
import Testing

@testable import RateControl

@Suite("Packets in silence")
struct KeepAliveTests {
    private var keepAlive = KeepAlive(parameters: ConfrelayParameters())

    @Test("half a second of silence lets one packet leave each 100 ms")
    mutating func silence() {
        keepAlive.heard(now: at(1000))
        keepAlive.update(oldest: at(1000), now: at(1500))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(1000), now: at(1505))
        #expect(keepAlive.allowsPacket)
        keepAlive.packetSent()
        keepAlive.update(oldest: at(1000), now: at(1600))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(1000), now: at(1605))
        #expect(keepAlive.allowsPacket)
        keepAlive.heard(now: at(1610))
        #expect(!keepAlive.allowsPacket)
    }

    @Test("silence counts from when there was something to answer")
    mutating func pause() {
        keepAlive.heard(now: at(1000))
        keepAlive.update(oldest: nil, now: at(5000))
        #expect(!keepAlive.allowsPacket)
        keepAlive.update(oldest: at(4900), now: at(5000))
        #expect(!keepAlive.allowsPacket)
    }
}

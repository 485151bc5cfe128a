import MediaCore
import Testing

@testable import CongestionControl

@Suite("Silence of the receiver")
struct FeedbackTimeoutTests {
    @Test("six seconds of sending without a report lower the rate, then each 250 ms")
    func steps() {
        var timeout = FeedbackTimeout()
        var steps: [Double] = []
        for time in stride(from: 0.0, through: 7000, by: 10) {
            timeout.packetSent(now: at(time))
            if timeout.step(now: at(time)) != nil { steps.append(time) }
        }
        #expect(steps == [6000, 6250, 6500, 6750, 7000])
        #expect(timeout.isSilent)
        let endsSilence = timeout.heard(ofPacketSent: at(6990), roundTripTime: .milliseconds(10), now: at(7000))
        #expect(endsSilence)
        #expect(!timeout.isSilent)
    }

    @Test("a pause in sending is no silence")
    func pause() {
        var timeout = FeedbackTimeout()
        timeout.packetSent(now: at(0))
        #expect(timeout.step(now: at(15_000)) == nil)
        _ = timeout.heard(ofPacketSent: at(0), roundTripTime: .milliseconds(50), now: at(50))
        timeout.packetSent(now: at(20_000))
        #expect(timeout.step(now: at(20_010)) == nil)
    }

    @Test("hearing of packets sent long ago is silence as well")
    func stale() {
        var timeout = FeedbackTimeout()
        var steps = 0
        for time in stride(from: 0.0, through: 9000, by: 10) {
            timeout.packetSent(now: at(time))
            if time.truncatingRemainder(dividingBy: 100) == 0 {
                _ = timeout.heard(
                    ofPacketSent: at(time < 500 ? time : 500), roundTripTime: .milliseconds(50), now: at(time))
            }
            if timeout.step(now: at(time)) != nil { steps += 1 }
        }
        #expect(steps > 5)
    }
}

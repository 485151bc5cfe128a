import MediaCore
import Testing

@testable import RateControl

@Suite("Silence of the receiver")
struct FeedbackTimeoutTests {
    @Test("a second of sending without an answer lowers the rate, then each 250 ms")
    func steps() {
        var timeout = FeedbackTimeout()
        timeout.hasTransportFeedback = true
        var steps: [Double] = []
        for time in stride(from: 0.0, through: 2000, by: 10) {
            timeout.packetSent(now: at(time))
            if timeout.step(now: at(time)) != nil { steps.append(time) }
        }
        #expect(steps == [1000, 1250, 1500, 1750, 2000])
        #expect(timeout.isSilent)
        let endsSilence = timeout.heard(ofPacketSent: at(1990), roundTripTime: .milliseconds(10), now: at(2000))
        #expect(endsSilence)
        #expect(!timeout.isSilent)
    }

    @Test("a pause in sending is no silence")
    func pause() {
        var timeout = FeedbackTimeout()
        timeout.hasTransportFeedback = true
        timeout.packetSent(now: at(0))
        #expect(timeout.step(now: at(5000)) == nil)
        _ = timeout.heard(ofPacketSent: at(0), roundTripTime: .milliseconds(50), now: at(50))
        timeout.packetSent(now: at(10_000))
        #expect(timeout.step(now: at(10_010)) == nil)
    }

    @Test("hearing of packets sent long ago is silence as well")
    func stale() {
        var timeout = FeedbackTimeout()
        timeout.hasTransportFeedback = true
        var steps = 0
        for time in stride(from: 0.0, through: 4000, by: 10) {
            timeout.packetSent(now: at(time))
            if time.truncatingRemainder(dividingBy: 100) == 0 {
                _ = timeout.heard(
                    ofPacketSent: at(time < 500 ? time : 500), roundTripTime: .milliseconds(50), now: at(time))
            }
            if timeout.step(now: at(time)) != nil { steps += 1 }
        }
        #expect(steps > 5)
    }

    @Test("a receiver that only sends reports is given more time")
    func reports() {
        var timeout = FeedbackTimeout()
        var first: Double?
        for time in stride(from: 0.0, through: 8000, by: 100) {
            timeout.packetSent(now: at(time))
            if timeout.step(now: at(time)) != nil { first = first ?? time }
        }
        #expect(first == 6000)
    }
}

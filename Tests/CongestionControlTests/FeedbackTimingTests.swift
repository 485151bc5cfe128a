import CongestionControl
import MediaCore
import Testing

@Suite("The interval of feedback")
struct FeedbackTimingTests {
    @Test(
        "a browser sends 68 bytes in 5 % of the rate, each 50 ms at the most and each 100 ms at the least",
        arguments: [(0.0, 100.0), (50, 100), (136, 80), (217.6, 50), (8000, 50)])
    func browser(kilobits: Double, milliseconds: Double) {
        let interval = FeedbackTiming.browser.interval(receiving: .kilobits(kilobits))
        #expect(abs(interval.milliseconds - milliseconds) < 0.01)
    }

    @Test("a fixed interval does not depend on the input", arguments: [0.0, 10, 10_000])
    func fixed(kilobits: Double) {
        #expect(FeedbackTiming.every(.milliseconds(16)).interval(receiving: .kilobits(kilobits)) == .milliseconds(16))
    }

    @Test(
        "between the relay and confclient it takes at most 5 % of the rate, as often as stated, or 20 times a second",
        arguments: [(0.0, 50.0), (100, 50), (272, 40), (435.2, 25), (8000, 25)])
    func stated(kilobits: Double, milliseconds: Double) {
        let interval = FeedbackTiming.stated(.milliseconds(25)).interval(receiving: .kilobits(kilobits))
        #expect(abs(interval.milliseconds - milliseconds) < 0.01)
    }

    @Test("a stated interval longer than the usual one holds at every rate", arguments: [0.0, 10, 10_000])
    func rare(kilobits: Double) {
        #expect(
            FeedbackTiming.stated(.milliseconds(100)).interval(receiving: .kilobits(kilobits)) == .milliseconds(100))
    }
}

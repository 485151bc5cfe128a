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
}

import MediaCore
import Testing

@testable import CongestionControl

@Suite("The application-limited region")
struct ALRDetectorTests {
    /// Sends a part of an estimate of 1 Mbit/s, a packet each 10 ms; returns when the region began, or ended, first.
    private func send(_ part: Double, from start: Double, for duration: Double, _ detector: inout ALRDetector)
        -> Double?
    {
        let before = detector.start != nil
        var change: Double?
        for time in stride(from: start + 10, through: start + duration, by: 10) {
            detector.packetSent(size: bytes(Int(1250 * part)), now: at(time))
            if (detector.start != nil) != before { change = change ?? time }
        }
        return change
    }

    @Test("it begins when a fifth of the estimate is sent for a quarter of a second")
    func begins() {
        var detector = ALRDetector()
        detector.setEstimate(.megabits(1))
        // The budget fills with 100 kB/s, half a second of it fits; 40 % are 20 kB. A fifth of 1 Mbit/s takes 25 kB/s
        // away: 20 kB are there after 267 ms. The first packet only starts the clock.
        let begin = send(0.2, from: 0, for: 1000, &detector)
        #expect(begin == 280)
        #expect(detector.start == at(280))
    }

    @Test("it ends when all of the estimate is sent again for a while")
    func ends() {
        var detector = ALRDetector()
        detector.setEstimate(.megabits(1))
        _ = send(0.2, from: 0, for: 2000, &detector)
        // From full, 50 kB, to 60 % overdrawn, -30 kB, with 25 kB/s more than the budget: 3.2 s.
        let end = send(1, from: 2000, for: 5000, &detector)
        #expect(end == 5210.0)
    }

    @Test("nine tenths of the estimate are all of it")
    func nearly() {
        var detector = ALRDetector()
        detector.setEstimate(.megabits(1))
        let change = send(0.9, from: 0, for: 10_000, &detector)
        #expect(change == nil)
    }

    @Test("an estimate that falls reduces the saved credit")
    func estimateFalls() {
        var detector = ALRDetector()
        detector.setEstimate(.megabits(1))
        _ = send(0.2, from: 0, for: 2000, &detector)
        detector.setEstimate(.kilobits(200))
        #expect(detector.start != nil)
        // A fifth of before is all of it now: 10 kB fit, 16 kB have to go at 5 kB/s.
        let end = send(0.2, from: 2000, for: 5000, &detector)
        #expect(end == 5210.0)
    }
}

import MediaCore
import Testing

@testable import CongestionControl

@Suite("Smaller signals of the controller")
struct ConfrelaySignalsTests {
    @Test("jitter is the median wait")
    func jitter() {
        var jitter = JitterEstimator(parameters: ConfrelayParameters())
        var random = SeededGenerator(seed: 1)
        for _ in 0..<5000 { jitter.add(Double.random(in: 0...0.03, using: &random)) }
        #expect(abs(jitter.value - 0.015) < 0.003)
    }

    @Test("the first thirty packets tell the jitter roughly")
    func firstJitter() {
        var jitter = JitterEstimator(parameters: ConfrelayParameters())
        for index in 0..<30 { jitter.add(index % 2 == 0 ? 0.01 : 0.03) }
        #expect((0.008...0.03).contains(jitter.value))
    }

    @Test("after late feedback of packets that did not wait, silence is ignored for some time")
    func unreliability() {
        var feedback = FeedbackUnreliability(parameters: ConfrelayParameters())
        feedback.feedbackReceived(lateness: 0.3)
        feedback.packetWaited(0.002)
        feedback.feedbackReceived(lateness: 0)
        #expect(feedback.tolerance > 0.25)
        for _ in 0..<500 { feedback.feedbackReceived(lateness: 0) }
        #expect(feedback.tolerance < 0.01)
    }

    @Test("late feedback of packets that waited as long is a queue's")
    func reliability() {
        var feedback = FeedbackUnreliability(parameters: ConfrelayParameters())
        feedback.feedbackReceived(lateness: 0.3)
        feedback.packetWaited(0.28)
        feedback.feedbackReceived(lateness: 0)
        #expect(feedback.tolerance == 0)
    }

    @Test("beside flows that fill queues the rate grows steadily and falls once for losses that come together")
    func competition() throws {
        var competition = CompetingTraffic(parameters: ConfrelayParameters())
        competition.update(
            isCompeting: true, start: .kilobits(200), capacity: .megabits(2), maximum: .megabits(8), now: at(0))
        competition.update(
            isCompeting: true, start: .kilobits(200), capacity: .megabits(2), maximum: .megabits(8), now: at(5000))
        #expect(competition.rate == .kilobits(700))
        competition.lost(now: at(5000))
        competition.lost(now: at(5100))
        #expect(competition.rate.map { abs($0.kilobitsPerSecond - 490) < 1 } == true)
        // On a path that carries little for us it does not grow for ever.
        competition.update(
            isCompeting: true, start: .kilobits(200), capacity: .kilobits(60), maximum: .megabits(8), now: at(5500))
        #expect(competition.rate == .kilobits(200))
        competition.update(
            isCompeting: false, start: .zero, capacity: .megabits(2), maximum: .megabits(8), now: at(6000))
        #expect(competition.rate == nil)
    }
}

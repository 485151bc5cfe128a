import CongestionControl
import MediaCore
import ResearchControllers
import Testing

@testable import PeerConnection

/// The division of a controller's target.
@Suite struct MediaRatesTests {
    @Test(
        "the rate over several frames leaves room for what is sent again, as that of the next frame does",
        arguments: [0, 0.1, 0.5])
    func retransmissions(fractionLost: Double) throws {
        let path = try KeyedPath(controller: FixedRateController(rate: .megabits(1)))
        var rates = MediaRates(maximum: .megabits(2))
        _ = rates.setMedia(of: path.peer.session, requestedVideo: nil, sendsVideo: true)
        let decision = ControlDecision(targetBitRate: .megabits(1), pacingRate: .megabits(2), nextWakeUp: .zero)
        let conditions = MediaRates.Conditions(
            sendsVideo: true, sendsAudio: false, fractionLost: fractionLost, protectionOverhead: 0.2,
            audioRepetitions: 0)
        let (changes, _) = rates.allocate(decision, conditions)
        let video = try #require(changes.video)
        #expect(abs(video.sustained / video.target - 1) < 0.001)
    }
}

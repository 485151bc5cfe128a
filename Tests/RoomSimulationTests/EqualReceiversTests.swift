import MediaCore
import NetworkSimulation
import RateControl
import Testing

@testable import RoomSimulation

/// Receivers whose networks are alike need one encoder.
@Suite struct EqualReceiversTests {
    @Test("nine on equal links that carry the room's cap end in one group and stay there")
    func nineAtTheCap() throws {
        let link = LinkProfile(rate: .fixed(.megabits(20)), delay: .milliseconds(10))
        var parameters = RoomSimulationParameters(
            receivers: (1...9).map { RoomSimulationParameters.Receiver(name: "\($0)", downlink: link) },
            duration: .seconds(30), maximumEncoders: 4)
        parameters.rateLimits.maximum = .kilobits(1500)
        parameters.warmUp = .seconds(15)
        let report = try RoomSimulation(parameters).run()
        #expect(report.mostEncoders == 1)
        #expect(report.moves == 0)
    }
}

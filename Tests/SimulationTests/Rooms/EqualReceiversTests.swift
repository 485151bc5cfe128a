import Conference
import CongestionControl
import LinkEmulation
import MediaCore
import Testing

@testable import Simulation

/// Receivers whose networks are alike need one encoder.
@Suite struct EqualReceiversTests {
    private func six(_ rate: LinkRate, broken: LinkRate? = nil) -> RoomSimulationParameters {
        var parameters = RoomSimulationParameters(
            receivers: (1...6).map { number in
                let link = LinkProfile(rate: number == 6 ? broken ?? rate : rate, delay: .milliseconds(10))
                return RoomSimulationParameters.Receiver(name: "\(number)", downlink: link)
            },
            duration: .seconds(16), maximumEncoders: 4)
        parameters.rateLimits.maximum = .kilobits(1500)
        parameters.canvas = VideoDimensions(width: 640, height: 360)
        parameters.warmUp = .seconds(10)
        return parameters
    }

    @Test("six receivers whose networks carry the highest rate end with one encoder, and nobody is moved after that")
    func atTheCap() throws {
        let report = try RoomSimulation(six(.fixed(.megabits(20)))).run()
        #expect(report.mostEncoders == 1)
        #expect(report.moves == 0)
    }

    @Test("six receivers with equally slow networks end with one encoder, though their controllers' targets vary")
    func belowTheCap() throws {
        let report = try RoomSimulation(six(.fixed(.kilobits(900)))).run()
        #expect(report.mostEncoders == 1, "\(report.mostEncoders)")
        #expect(report.moves == 0, "\(report.moves)")
    }

    @Test("when the network of one of six falls, it has an encoder of its own within two seconds")
    func oneFalls() throws {
        let fall = LinkRate.steps([
            LinkRate.Step(at: .zero, rate: .megabits(20)), LinkRate.Step(at: .seconds(12), rate: .kilobits(300)),
        ])
        let simulation = try RoomSimulation(six(.fixed(.megabits(20)), broken: fall))
        var groups: [Int: Int] = [:]
        simulation.onSample = { room, time in groups[Int(time.seconds)] = room.encoding.groups.count }
        _ = try simulation.run()
        #expect(groups[11] == 1)
        #expect(groups[14] == 2)
    }
}

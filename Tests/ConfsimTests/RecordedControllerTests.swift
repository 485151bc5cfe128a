import CongestionControl
import FlightRecording
import MediaCore
import Testing

@testable import confsim

/// The controllers of recordings.
@Suite struct RecordedControllerTests {
    /// The header of a recording whose controller had changed constants.
    private func header(_ scaling: [FlightHeader.Scaling]) -> FlightHeader {
        FlightHeader(
            controller: "confrelay",
            limits: RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(4)), scaling: scaling,
            start: .zero, packetOverhead: DataSize(bytes: 28), program: "tests")
    }

    @Test("of a recording whose constants cannot be used the reason is told", arguments: ["confrelay", "google"])
    func constants(name: String) throws {
        let controller = try #require(RecordedController(name: name))
        let refused: [([FlightHeader.Scaling], ConfrelayParameters.ScalingError?)] = [
            ([.init(name: "drainTime", factor: 1.5)], nil),
            ([.init(name: "drainTime", factor: 1e300)], .factorOutOfRange(1e300)),
            ([.init(name: "nothing", factor: 2)], .unknownName("nothing")),
            ([.init(name: "growth", factor: 2), .init(name: "growth", factor: 2)], .repeatedName("growth")),
        ]
        for (scaling, reason) in refused {
            var told: ConfrelayParameters.ScalingError?
            do throws(ConfrelayParameters.ScalingError) {
                _ = try controller.make(header(scaling))
            } catch {
                told = error
            }
            // Another controller runs on the recording whatever the constants of its own were.
            #expect(told == (name == "confrelay" ? reason : nil))
        }
    }
}

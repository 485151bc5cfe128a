import ConferenceClient
import CongestionControl
import Foundation
import LinkEmulation
import MediaCore
import ResearchControllers
import Simulation
import Testing

@testable import confsim

@Suite("Real pictures in the simulator")
struct SessionPictureCodecTests {
    private let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(600), maximum: .megabits(2))

    private func scenario(
        loss: LossModel = 0, repair: MediaFlowParameters.Repair = .nack, clip: String? = nil,
        encoder: PictureCoding.Encoder = .openH264
    ) -> Scenario {
        let pictures = PictureCoding(
            encoder: encoder, clip: clip, dimensions: VideoDimensions(width: 160, height: 96))
        let parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(frameRate: 15, minimum: limits.minimum, maximum: limits.maximum),
            pictures: pictures, repair: repair)
        return Scenario(
            name: "pictures", duration: .seconds(5),
            links: [
                .init(
                    name: "forward",
                    profile: LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20), loss: loss)),
                .init(name: "backward", profile: LinkProfile(delay: .milliseconds(20))),
            ],
            flows: [
                .init(
                    name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
            ])
    }

    private func run(_ scenario: Scenario) throws -> ScenarioResult {
        var simulation = try ScenarioSimulation(
            scenario: scenario, seed: 1, makeCodec: SessionPictureCodec.make(_:encoder:)
        ) { _ in SimulatedController(FixedRateController(rate: limits.start)) }
        let result = simulation.run(controllerName: "fixed")
        #expect(simulation.failure == nil)
        return result
    }

    @Test("pictures arrive and are near their sources, with each encoder", arguments: PictureCoding.Encoder.allCases)
    func arrive(encoder: PictureCoding.Encoder) throws {
        let result = try run(scenario(encoder: encoder))
        #expect(try #require(result.metrics[.pictureSimilarity]) > 0.85)
        #expect(try #require(result.metrics[.pictureNoise]) > 28)
        #expect(result.metrics[.framesLost] == 0)
        #expect(result.links[0].deliveredBytes > 10_000)
    }

    @Test("the same seed gives the same bytes and the same pictures", arguments: PictureCoding.Encoder.allCases)
    func deterministic(encoder: PictureCoding.Encoder) throws {
        let scenario = scenario(loss: 0.03, encoder: encoder)
        #expect(try run(scenario) == run(scenario))
    }

    @Test("losses that are repaired cost no picture; those that are not cost pictures until the next keyframe")
    func losses() throws {
        let repaired = try run(scenario(loss: 0.05))
        #expect(try #require(repaired.metrics[.framesLost]) < 2)
        #expect(repaired.metrics[.retransmitted] ?? 0 > 2)
        let lost = try run(scenario(loss: 0.05, repair: .none))
        #expect(try #require(lost.metrics[.framesLost]) > 5)
        #expect(lost.metrics[.retransmitted] == 0)
        // The shown pictures are complete all the same: no frame is decoded that refers to a missing one.
        #expect(try #require(lost.metrics[.pictureSimilarity]) > 0.8)
    }

    @Test("a clip is read, and another file is refused with the reason")
    func clips() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).y4m").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let plane = Data((0..<32 * 32).map { UInt8(truncatingIfNeeded: $0 * 7) })
        let frame = Data("FRAME\n".utf8) + plane + Data(repeating: 128, count: 512)
        try (Data("YUV4MPEG2 W32 H32 F15:1 C420\n".utf8) + frame + frame).write(to: URL(fileURLWithPath: path))
        #expect(try run(scenario(clip: path)).metrics[.pictureSimilarity] ?? 0 > 0.7)
        try Data("no clip".utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: ScenarioSimulationError.self) { try run(scenario(clip: path)) }
        #expect(error?.description.contains(path) == true)
    }

    @Test("real pictures without a codec are refused")
    func noCodec() {
        #expect(throws: ScenarioSimulationError.self) {
            _ = try ScenarioSimulation(scenario: scenario(), seed: 1) { _ in
                SimulatedController(FixedRateController(rate: limits.start))
            }
        }
    }
}

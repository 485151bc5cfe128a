import CongestionControl
import LinkEmulation
import MediaCore

@testable import Simulation

/// The instant `milliseconds` after the origin.
func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1e6))
}

/// Runs one media flow over one link, with a way back that limits nothing and takes as long.
func simulate(
    _ parameters: MediaFlowParameters, limits: RateLimits, link profile: LinkProfile, duration: Duration,
    seed: UInt64 = 1, controller: any CongestionController
) throws -> MediaFlowReport {
    let network = SimulatedNetwork(sampleInterval: .milliseconds(100))
    let link = network.addLink(profile, seed: seed &* 3 &+ 2)
    let feedbackLink = network.addLink(LinkProfile(delay: profile.delay), seed: seed &* 3 &+ 3)
    var steps: [LinkRate.Step] = []
    if case .steps(let scripted) = profile.rate { steps = scripted }
    let flow = try MediaFlow(
        number: network.nextFlow, parameters: parameters, limits: limits, controller: controller,
        codec: ModelledPictures(parameters.encoder, seed: seed &* 3 &+ 1),
        setting: MediaFlowRecording.Setting(
            duration: duration, sampleInterval: .milliseconds(100), maximum: parameters.encoder.maximum, steps: steps),
        seed: seed &* 3 &+ 1)
    let attached = network.addFlow(flow, path: NetworkPath(forward: [link], backward: [feedbackLink]))
    network.run(until: .zero + duration)
    return attached.flow.report()
}

public import CongestionControl
import LinkEmulation
internal import MediaCore

/// Runs one controller in a closed loop on virtual time: encoder model → pacer → link → feedback → controller.
///
/// It uses the very pacer, feedback and controller code of a real sender and receiver. The same configuration gives
/// the same report, bit for bit.
public struct MediaFlowSimulation<Controller: CongestionController> {
    private let configuration: MediaFlowConfiguration
    private let controller: Controller

    public init(configuration: MediaFlowConfiguration, controller: Controller) {
        self.configuration = configuration
        self.controller = controller
    }

    /// Runs the whole simulation.
    public mutating func run() -> MediaFlowReport {
        let seed = configuration.seed
        let network = SimulatedNetwork(sampleInterval: configuration.sampleInterval)
        let link = network.addLink(configuration.link, seed: seed &* 3 &+ 2)
        let feedbackLink = network.addLink(configuration.feedbackLink, seed: seed &* 3 &+ 3)
        var steps: [LinkRate.Step] = []
        if case .steps(let scripted) = configuration.link.rate { steps = scripted }
        let flow = MediaFlow(
            number: network.nextFlow, parameters: configuration.flow, controller: controller,
            setting: MediaFlowRecording.Setting(
                duration: configuration.duration, sampleInterval: configuration.sampleInterval,
                maximum: configuration.encoder.maximum, steps: steps),
            seed: seed &* 3 &+ 1)
        let attached = network.addFlow(flow, path: NetworkPath(forward: [link], backward: [feedbackLink]))
        network.run(until: .zero + configuration.duration)
        return attached.flow.report(link: network.statistics(of: link))
    }
}

internal import CongestionControl
import LinkEmulation
import MediaCore

/// Runs a scenario under a controller on virtual time. The same scenario, controller and seed give the same result, bit
/// for bit.
public struct ScenarioSimulation {
    private enum Running {
        case media(Attached<MediaFlow>)
        case tcp(Attached<TCPFlow>)
        case datagrams(Attached<DatagramFlow>)
    }

    private let scenario: Scenario
    private let seed: UInt64
    private let sampleInterval: Duration
    private let network: SimulatedNetwork
    private var running: [Running] = []

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - sampleInterval: The time between two samples.
    ///   - makeCodec: Creates a codec for each media flow that sends real pictures.
    ///   - makeController: Creates a controller for each media flow.
    public init(
        scenario: Scenario, seed: UInt64, sampleInterval: Duration = .milliseconds(200),
        makeCodec: PictureCodecMaker? = nil, makeController: (ControllerContext) -> SimulatedController
    ) throws(ScenarioSimulationError) {
        self.scenario = scenario
        self.seed = seed
        self.sampleInterval = sampleInterval
        network = SimulatedNetwork(sampleInterval: sampleInterval)
        var links: [String: Int] = [:]
        for link in scenario.links {
            guard links[link.name] == nil else { throw .repeatedLink(link.name) }
            links[link.name] = network.addLink(link.profile, seed: derivedSeed(for: "link \(link.name)"))
        }
        for flow in scenario.flows {
            let path = NetworkPath(
                forward: try Self.numbers(flow.forward, of: flow, links),
                backward: try Self.numbers(flow.backward, of: flow, links))
            try add(flow, path: path, makeCodec: makeCodec, makeController: makeController)
        }
    }

    private static func numbers(
        _ names: [String], of flow: Scenario.Flow, _ links: [String: Int]
    ) throws(ScenarioSimulationError) -> [Int] {
        guard !names.isEmpty else { throw .noPath(flow: flow.name) }
        var numbers: [Int] = []
        for name in names {
            guard let number = links[name] else { throw .unknownLink(flow: flow.name, link: name) }
            numbers.append(number)
        }
        return numbers
    }

    private mutating func add(
        _ flow: Scenario.Flow, path: NetworkPath, makeCodec: PictureCodecMaker?,
        makeController: (ControllerContext) -> SimulatedController
    ) throws(ScenarioSimulationError) {
        let number = network.nextFlow
        let seed = derivedSeed(for: "flow \(flow.name)")
        switch flow.kind {
        case .media(let parameters, let limits):
            let made = makeController(
                ControllerContext(
                    limits: limits, start: .zero + parameters.start, fairLink: fairLink(of: flow),
                    frameInterval: parameters.encoder.frameInterval, packetOverhead: MediaFlow.datagramOverhead))
            do throws(PictureCodecError) {
                let media = try MediaFlow(
                    number: number, parameters: made.adapting(parameters), limits: limits, controller: made.controller,
                    codec: try Self.codec(parameters, seed: seed, makeCodec),
                    setting: setting(of: flow, maximum: parameters.encoder.maximum, start: parameters.start),
                    seed: seed)
                running.append(.media(network.addFlow(media, path: path)))
            } catch {
                throw .pictures(flow: flow.name, error)
            }
        case .tcp(let parameters):
            let tcp = TCPFlow(
                number: number, parameters: parameters,
                setting: setting(of: flow, maximum: .megabits(1e6), start: parameters.start), seed: seed)
            running.append(.tcp(network.addFlow(tcp, path: path)))
        case .audio(let parameters), .udp(let parameters):
            let datagrams = DatagramFlow(
                number: number, parameters: parameters,
                setting: setting(of: flow, maximum: parameters.rate, start: parameters.start), seed: seed)
            running.append(.datagrams(network.addFlow(datagrams, path: path)))
        }
    }

    private func setting(
        of flow: Scenario.Flow, maximum: BitRate, start: Duration
    ) -> MediaFlowRecording.Setting {
        var steps: [LinkRate.Step] = []
        if case .steps(let scripted)? = scenario.bottleneck(of: flow)?.profile.rate { steps = scripted }
        return MediaFlowRecording.Setting(
            duration: scenario.duration, sampleInterval: sampleInterval, maximum: maximum, steps: steps, start: start,
            window: scenario.window)
    }

    private static func codec(
        _ parameters: MediaFlowParameters, seed: UInt64, _ makeCodec: PictureCodecMaker?
    ) throws(PictureCodecError) -> any PictureCodec {
        guard let pictures = parameters.pictures else { return try ModelledPictures(parameters.encoder, seed: seed) }
        guard let makeCodec else { throw PictureCodecError(reason: "there is no codec here for real pictures") }
        return try makeCodec(pictures, parameters.encoder)
    }

    /// Returns a seed for a link or flow that does not depend on the others (FNV-1a).
    private func derivedSeed(for name: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var generator = SeededGenerator(seed: self.seed ^ hash)
        return generator.next()
    }

    /// Returns an equal share of the tightest link of a flow's path for each media flow on it, after the rates of flows
    /// without congestion control.
    private func fairLink(of flow: Scenario.Flow) -> LinkProfile {
        guard let tightest = scenario.bottleneck(of: flow) else { return LinkProfile() }
        var sharers = 0
        var taken = BitRate.zero
        for other in scenario.flows where other.forward.contains(tightest.name) {
            switch other.kind {
            case .media: sharers += 1
            case .audio(let parameters), .udp(let parameters):
                // Flows that pause cannot be predicted, so they are ignored.
                if parameters.onOff == nil { taken = taken + parameters.rate }
            case .tcp: break
            }
        }
        let (rate, policer) = (tightest.profile.rate, tightest.profile.policer)
        let share = 1 / Double(max(sharers, 1))
        return LinkProfile(
            rate: rate.reduced(by: taken).divided(by: max(sharers, 1)),
            policer: policer.map { Policer(rate: ($0.rate - taken) * share, burst: $0.burst) })
    }

    /// Runs the simulation to its end.
    public mutating func run(controllerName: String) -> ScenarioResult {
        network.run(until: .zero + scenario.duration)
        let flows = zip(scenario.flows, running).map { flowResult(of: $0, $1) }
        var result = ScenarioResult(
            scenario: scenario.name, suite: scenario.suite, title: scenario.title, reference: scenario.reference,
            expectation: scenario.expectation, controller: controllerName, seed: seed,
            duration: scenario.duration.seconds, eventCount: network.eventCount, metrics: MetricValues(),
            flows: flows,
            links: scenario.links.enumerated().map { number, link in
                let statistics = network.statistics(of: number)
                return ScenarioResult.Link(
                    name: link.name, sentPackets: statistics.sentPackets,
                    deliveredPackets: statistics.deliveredPackets, lostPackets: statistics.lostPackets,
                    droppedPackets: statistics.droppedPackets, markedPackets: statistics.markedPackets,
                    deliveredBytes: statistics.deliveredSize.bytes)
            })
        FlowComparison(scenario: scenario, sampleInterval: sampleInterval).addMetrics(to: &result)
        return result
    }

    /// The error that ended a flow's real pictures early; nil if there is none.
    public var failure: ScenarioSimulationError? {
        for (flow, running) in zip(scenario.flows, running) {
            guard case .media(let attached) = running, let error = attached.flow.codecFailure else { continue }
            return .pictures(flow: flow.name, error)
        }
        return nil
    }

    /// Returns the samples of a media flow and its controller; empty for other flows.
    public func mediaSamples(ofFlow index: Int) -> [MediaFlowSample] {
        guard running.indices.contains(index), case .media(let attached) = running[index] else { return [] }
        return attached.flow.samples
    }

    private func flowResult(of flow: Scenario.Flow, _ running: Running) -> ScenarioResult.Flow {
        var result = ScenarioResult.Flow(
            name: flow.name, kind: flow.kindName, bottleneck: scenario.bottleneck(of: flow)?.name,
            maximum: flow.maximum.map { $0.kilobitsPerSecond / 1000 }, metrics: MetricValues(), steps: [],
            queueingDelayPercentiles: [], frameDelayPercentiles: [], samples: [])
        switch running {
        case .media(let attached):
            let report: MediaFlowReport
            (report, result.samples) = attached.flow.result()
            result.metrics = report.metrics
            result.steps = report.reactions
            result.queueingDelayPercentiles = report.queueingDelayPercentiles
            result.frameDelayPercentiles = report.frameDelayPercentiles
        case .tcp(let attached): Self.add(attached.flow.recording, to: &result)
        case .datagrams(let attached): Self.add(attached.flow.recording, to: &result)
        }
        return result
    }

    private static func add(_ recording: TrafficRecording, to result: inout ScenarioResult.Flow) {
        (result.metrics, result.queueingDelayPercentiles) = recording.metrics
        result.samples = recording.samples
    }
}

extension Scenario.Flow {
    /// The name of its kind in results.
    public var kindName: String {
        switch kind {
        case .media: "media"
        case .audio: "audio"
        case .tcp: "tcp"
        case .udp: "udp"
        }
    }
}

extension Scenario.Flow {
    /// The highest rate of its source; nil for TCP.
    var maximum: BitRate? {
        switch kind {
        case .media(let parameters, _): parameters.encoder.maximum
        case .audio(let parameters), .udp(let parameters): parameters.rate
        case .tcp: nil
        }
    }
}

/// The reason why a scenario cannot run.
public enum ScenarioSimulationError: Error, Hashable, Sendable {
    case repeatedLink(String)
    case unknownLink(flow: String, link: String)
    case noPath(flow: String)
    case pictures(flow: String, PictureCodecError)
}

extension ScenarioSimulationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .repeatedLink(let name): "there are two links '\(name)'; give each a name of its own"
        case .unknownLink(let flow, let link): "the flow '\(flow)' takes a link '\(link)' that there is not"
        case .noPath(let flow): "the flow '\(flow)' needs at least one link each way"
        case .pictures(let flow, let error): "the pictures of the flow '\(flow)' cannot be sent: \(error)"
        }
    }
}

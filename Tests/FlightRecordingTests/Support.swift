import CongestionControl
import FlightRecording
import LinkEmulation
import MediaCore
import RTP
import ResearchControllers
import Simulation

extension RateLimits {
    static let test = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(4))
}

extension FlightHeader {
    static let test = FlightHeader(
        controller: "google", limits: .test, scaling: [.init(name: "caution", factor: 1.5)],
        start: MonotonicInstant(nanoseconds: 77_000_000_123), wallClockMilliseconds: 1_795_244_160_000,
        packetOverhead: DataSize(bytes: 28), program: "tests", room: "demo", participant: "Zoë \u{1F600}",
        participantID: "k3j4")
}

extension MonotonicInstant {
    static func seconds(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds * 1e9))
    }
}

/// Reads a whole recording.
func decode(
    _ bytes: [UInt8]
) throws(FlightDecodingError) -> (header: FlightHeader, records: [FlightRecord], ending: FlightEnding?) {
    var decoder = try FlightDecoder(bytes)
    var records: [FlightRecord] = []
    while let record = try decoder.next() { records.append(record) }
    return (decoder.header, records, decoder.ending)
}

/// A controller of a kind, for a simulated flow that is recorded.
enum TestController: String, CaseIterable {
    case google, fixed, confrelay, scream, nada

    /// The feedback that it is made for.
    var feedback: MediaFlowParameters.Feedback {
        switch self {
        case .google, .fixed, .confrelay: .transportWide
        case .scream, .nada: .congestionControl
        }
    }

    func make(limits: RateLimits = .test, start: MonotonicInstant = .zero) -> any CongestionController {
        switch self {
        case .google: GoogleCongestionController(limits: limits, now: start)
        case .fixed: FixedRateController(rate: limits.start)
        case .confrelay: ConfrelayCongestionController(limits: limits, now: start)
        case .scream: ScreamCongestionController(limits: limits, now: start)
        case .nada: NADACongestionController(limits: limits)
        }
    }
}

/// Simulates a flow and records its controller.
func recordedFlow(
    _ kind: TestController, link: LinkProfile, limits: RateLimits = .test, duration: Duration,
    feedback: MediaFlowParameters.Feedback? = nil, seed: UInt64 = 1
) throws -> [UInt8] {
    let memory = FlightMemory()
    let recorder = FlightRecorder(
        header: FlightHeader(
            controller: kind.rawValue, limits: limits, start: .zero, packetOverhead: DataSize(bytes: 28)), sink: memory)
    let parameters = MediaFlowParameters(
        encoder: EncoderModel.Configuration(frameRate: 30, minimum: limits.minimum, maximum: limits.maximum),
        feedback: feedback ?? kind.feedback)
    let scenario = Scenario(
        name: "flight", duration: duration,
        links: [
            .init(name: "forward", profile: link),
            .init(name: "backward", profile: LinkProfile(delay: link.delay)),
        ],
        flows: [.init(name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])])
    var simulation = try ScenarioSimulation(scenario: scenario, seed: seed) { _ in
        SimulatedController(RecordingController(kind.make(limits: limits), recorder: recorder))
    }
    _ = simulation.run(controllerName: kind.rawValue)
    recorder.finish()
    return memory.bytes
}

/// Random events that a sender's own code could make, in order.
struct RandomFlight {
    private var random: SeededGenerator
    private var time: MonotonicInstant
    private var sent: [SentPacket] = []

    init(seed: UInt64, start: MonotonicInstant) {
        random = SeededGenerator(seed: seed)
        time = start
    }

    mutating func next() -> FlightRecord {
        time += .nanoseconds(Int64.random(in: 0...40_000_000, using: &random))
        return FlightRecord(time: time, event: event())
    }

    private mutating func event() -> FlightEvent {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: .packetSent(packet())
        case 4, 5: .feedbackReceived(report())
        case 6:
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .remoteEstimateReceived(BitRate(bitsPerSecond: Int64.random(in: 0...(.max), using: &random)))
            case 1: .demandChanged(BitRate(bitsPerSecond: Int64.random(in: 0...1_000_000_000, using: &random)))
            case 2:
                .receiverReportReceived(
                    fractionLost: Double.random(in: 0...1, using: &random),
                    roundTripTime: Bool.random(using: &random) ? duration() : nil)
            case 3: .frameDelayChanged(duration())
            default:
                .limitsChanged(
                    RateLimits(
                        minimum: .kilobits(Double.random(in: 10...100, using: &random)), start: .kilobits(200),
                        maximum: .megabits(Double.random(in: 1...10, using: &random))))
            }
        case 7: .senderQueueChanged(DataSize(bytes: Int.random(in: 0...200_000, using: &random)))
        default: .decided(decision())
        }
    }

    /// Some of whole nanoseconds, some not.
    private mutating func duration() -> Duration {
        let nanoseconds = Duration.nanoseconds(Int64.random(in: -1_000_000_000...1_000_000_000, using: &random))
        return Bool.random(using: &random) ? nanoseconds : nanoseconds / 7
    }

    private mutating func packet() -> SentPacket {
        let jump = Int.random(in: 0..<20, using: &random) == 0 ? Int64.random(in: 1...1000, using: &random) : 0
        let packet = SentPacket(
            transportSequence: (sent.last?.transportSequence ?? -1) + 1 + jump,
            size: DataSize(bytes: Int.random(in: 0...1500, using: &random)),
            sendTime: Bool.random(using: &random)
                ? time : time - .nanoseconds(Int64.random(in: 0...1_000_000, using: &random)),
            probeClusterID: Int.random(in: 0..<5, using: &random) == 0 ? Int.random(in: 0...900, using: &random) : nil)
        sent.append(packet)
        return packet
    }

    private mutating func report() -> TransportFeedbackReport {
        var results: [PacketResult] = []
        for packet in sent.suffix(Int.random(in: 0...30, using: &random))
        where Int.random(in: 0..<9, using: &random) > 0 {
            results.append(
                PacketResult(
                    sent: packet,
                    receiveTime: Int.random(in: 0..<9, using: &random) == 0
                        ? nil : MonotonicInstant(nanoseconds: Int64.random(in: .min...(.max), using: &random)),
                    wasReportedMissing: Bool.random(using: &random),
                    ecn: ECNCodepoint(rawValue: UInt8.random(in: 0...3, using: &random)) ?? .notCapable))
        }
        return TransportFeedbackReport(
            results: results, feedbackTime: time,
            dataInFlight: DataSize(bytes: Int.random(in: 0...90_000, using: &random)))
    }

    private mutating func decision() -> ControlDecision {
        func rate(_ random: inout SeededGenerator) -> BitRate {
            BitRate(bitsPerSecond: Int64.random(in: 0...9_000_000, using: &random))
        }
        var decision = ControlDecision(
            targetBitRate: rate(&random), pacingRate: rate(&random),
            nextWakeUp: Bool.random(using: &random) ? .distantFuture : time + .milliseconds(5))
        if Bool.random(using: &random) { decision.sustainedBitRate = rate(&random) }
        if Bool.random(using: &random) {
            decision.congestionWindow = DataSize(bytes: Int.random(in: 0...90_000, using: &random))
        }
        if Bool.random(using: &random) { decision.frameTimeout = duration() }
        if Bool.random(using: &random) { decision.pacingBurst = duration() }
        if Bool.random(using: &random) { decision.paddingRate = rate(&random) }
        let pauses: [VideoPause?] = [nil, .emptyPathProbe, .slowPath]
        decision.videoPause = pauses.randomElement(using: &random) ?? nil
        if Bool.random(using: &random) { decision.pacingBurst = duration() }
        if Bool.random(using: &random) { decision.paddingRate = .kilobits(Double.random(in: 1...5000, using: &random)) }
        for id in 0..<Int.random(in: 0...3, using: &random) {
            decision.newProbeClusters.append(ProbeCluster(id: id, rate: rate(&random), minimumDuration: duration()))
        }
        return decision
    }
}

public import Conference
import CongestionControl
import LinkEmulation
public import MediaCore
import NIOCore
import PeerConnection
import RTP
import RoomAPI
import SDP
import SecureTransport
import VideoCoding

/// A relay's room on virtual time. The relay's own code runs with real controllers, from the packets of its receivers'
/// feedback to the packets of their pictures. Of the encoders' frames, only the sizes are realistic.
public final class RoomSimulation {
    private static let room = "simulation"
    private static let sampleInterval = Duration.seconds(1)

    private let parameters: RoomSimulationParameters
    private let relay: Relay
    private let statistics: EncoderStatistics
    private let wallClock = WallClock.simulated
    private let captureTime: @Sendable (SampleBuffer) -> MonotonicInstant?
    /// The time at which the simulation begins.
    public static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private var start: MonotonicInstant { Self.start }
    private var now: MonotonicInstant
    private var members: [SimulatedMember] = []
    private var byAddress: [TransportAddress: SimulatedMember] = [:]
    private var random: SeededGenerator
    /// Called with the room's state each second.
    public var onSample: ((RoomSnapshot, Duration) -> Void)?
    /// Called for each frame that a receiver received completely, from the beginning on.
    public var onFrame: ((RoomFrame) -> Void)?

    public init(_ parameters: RoomSimulationParameters) throws(RoomSimulationError) {
        self.parameters = parameters
        now = Self.start
        random = SeededGenerator(seed: parameters.seed)
        let statistics = EncoderStatistics()
        self.statistics = statistics
        var configuration = RelayConfiguration()
        configuration.canvas = parameters.canvas
        configuration.frameRate = parameters.frameRate
        configuration.rateLimits = parameters.rateLimits
        configuration.congestionController = parameters.congestionController
        configuration.maximumEncoders = parameters.maximumEncoders
        configuration.maximumParticipants = parameters.receivers.count + 1
        configuration.hasLadder = parameters.hasLadder
        configuration.mediaAddresses = [SimulatedMember.relayAddress]
        // The simulation studies shared encoders, so packets must not be forwarded without encoding.
        configuration.forwarding = .off
        let media = parameters.media ?? .modelled(parameters.content, seed: parameters.seed)
        captureTime = media.captureTime
        configuration.makeCompositor = media.makeCompositor
        configuration.makeEncoder = { (dimensions, properties) throws(VideoCodingError) in
            CountedEncoder(try media.makeEncoder(dimensions, properties), statistics: statistics)
        }
        relay = Relay(
            configuration: configuration, wallClock: wallClock, random: SeededGenerator(seed: parameters.seed &+ 1),
            now: now)
        let camera = RoomSimulationParameters.Receiver(
            name: "camera", downlink: LinkProfile(rate: .unlimited, delay: .milliseconds(10)))
        do {
            try join(camera, isCamera: true)
            for receiver in parameters.receivers { try join(receiver, isCamera: false) }
        } catch {
            throw .setUp("\(error)")
        }
    }

    /// Runs the simulation to its end.
    public func run() throws(RoomSimulationError) -> RoomReport {
        do {
            try run(until: start + parameters.warmUp)
            let before = encoding()
            statistics.reset()
            for member in members { member.startCounting(now: now) }
            try run(until: start + parameters.duration)
            return report(since: before)
        } catch {
            throw .encoding("\(error)")
        }
    }

    // MARK: - Setting up

    private func join(_ receiver: RoomSimulationParameters.Receiver, isCamera: Bool) throws {
        let address = TransportAddress(ipv4: 0x7f00_0001, port: UInt16(20_000 + members.count))
        var offered = OfferParameters(address: address)
        offered.video = OfferParameters.Video(direction: isCamera ? .sendOnly : .receiveOnly)
        offered.audio = nil
        let (offer, pending) = OfferAnswer.makeOffer(offered, using: &random)
        let result = try relay.join(
            JoinRequest(
                room: Self.room, name: receiver.name, offer: offer.encode(), role: isCamera ? .publish : .watch,
                signallingPeer: address),
            now: now)
        let session = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: result.answer))
        let peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(
                rateLimits: RateLimits(minimum: .kilobits(100), start: .megabits(1), maximum: .megabits(2)),
                trustsRemoteDescription: session.transport == nil, seed: UInt64(address.port),
                checkIdentifiers: SeededGenerator(seed: UInt64(address.port))),
            wallClock: wallClock, now: now)
        let member = SimulatedMember(
            receiver, id: result.participantID, address: address, peer: peer,
            camera: isCamera ? try SimulatedCamera(frameRate: parameters.frameRate, now: now) : nil,
            seed: parameters.seed &* 1000 &+ UInt64(members.count * 2), now: now)
        members.append(member)
        byAddress[address] = member
        drain()
    }

    // MARK: - Running

    private func run(until end: MonotonicInstant) throws(VideoCodingError) {
        var nextSample = now
        while true {
            var next = relay.nextWakeUp
            for member in members { next = min(next, member.nextEvent) }
            guard next <= end else { break }
            now = max(now, next)
            if let onSample, now >= nextSample {
                nextSample = now + Self.sampleInterval
                if let snapshot = relay.snapshot(room: Self.room, now: now) { onSample(snapshot, now - start) }
            }
            for (index, member) in members.enumerated() where member.nextEvent <= now {
                try member.wake(relay, now: now) { sample in take(sample, of: member, index: index - 1) }
            }
            if relay.nextWakeUp <= now { relay.wake(now: now) }
            drain()
        }
        now = end
    }

    private func take(_ sample: SampleBuffer, of member: SimulatedMember, index: Int) {
        let frame = RoomFrame(receiver: index, sample: sample, captureTime: captureTime(sample), arrival: now)
        member.count(frame)
        onFrame?(frame)
    }

    private func drain() {
        while let job = relay.pollJob() {
            let instant = now
            relay.complete(job.run { instant }, now: now)
        }
        while let transmit = relay.pollTransmit(now: now) {
            byAddress[transmit.destination]?.send(transmit.datagram, now: now)
        }
        while relay.pollRoomEvent() != nil {}
    }

    // MARK: - Reporting

    private func encoding() -> EncodingSnapshot? { relay.snapshot(room: Self.room, now: now)?.encoding }

    private func report(since before: EncodingSnapshot?) -> RoomReport {
        guard let before, let snapshot = relay.snapshot(room: Self.room, now: now) else { return RoomReport() }
        var report = RoomReport()
        let encoding = snapshot.encoding
        report.keyframeShare =
            Double(encoding.keyframeBytes &- before.keyframeBytes) / Double(max(1, encoding.bytes &- before.bytes))
        let figures = statistics.figures
        report.mostEncoders = figures.most
        report.meanEncoders = Double(figures.frames) / Double(max(1, figures.ticks))
        report.moves = encoding.moves &- before.moves
        report.rungChanges = encoding.groups.reduce(0) { $0 + $1.rungChanges }
        let seconds = (parameters.duration - parameters.warmUp).seconds
        report.receivers = members.dropFirst().map { member in
            let downlink = snapshot.participants.first { $0.id == member.id }?.downlink
            let received = member.received
            return RoomReceiverFigures(
                name: member.name, bitRate: Double(received.size.bytes) * 8 / seconds,
                frameRate: Double(received.frames) / seconds, meanDelay: received.meanDelay.milliseconds,
                delay95: received.delay(percentile: 95).milliseconds,
                longestGap: received.longestGap.milliseconds, layerDrops: downlink?.framesLayerDropped ?? 0,
                keyframes: downlink?.keyframes ?? 0, groupChanges: downlink?.groupChanges ?? 0)
        }
        return report
    }
}

/// The reason why a room could not be simulated.
public enum RoomSimulationError: Error, CustomStringConvertible {
    case setUp(String)
    case encoding(String)

    public var description: String {
        switch self {
        case .setUp(let reason): "the simulated room could not be set up: \(reason)"
        case .encoding(let reason): "an encoder of the simulated room failed: \(reason)"
        }
    }
}

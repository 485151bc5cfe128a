import CongestionControl
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import RTP
import RoomAPI
import SDP
import SecureTransport

@testable import Conference
@testable import PeerConnection

/// A relay and its clients on virtual time: datagrams cross each client's own two links, jobs take no
/// time unless it is said, nothing sleeps.
final class VirtualCall {
    static let relayAddress = TransportAddress(ipv4: 0x7f00_0001, port: 7000)
    static let relayCertificate = try? DTLSCertificate()
    static let clientCertificate = try? DTLSCertificate()

    let relay: Relay
    let wallClock = WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32))
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private(set) var clients: [TestClient] = []
    /// Each client has a port of its own, also when others have gone.
    private var joinCount = 0
    private var random = SeededGenerator(seed: 7)
    /// Changes an offer on its way.
    var rewriteOffer: (String) -> String = { $0 }
    /// The relay's address to which the clients send; nil: the relay has only one.
    var localAddress: TransportAddress?
    /// The paths on which the relay has sent anything.
    var paths: Set<NetworkPath> = []
    /// The addresses to which the relay has sent anything.
    var destinations: Set<TransportAddress> { Set(paths.map(\.remote)) }
    /// Called for each datagram that the relay sends to an address of no client.
    var onUnclaimed: ((PeerConnection.Transmit, MonotonicInstant) -> Void)?
    /// Drops a datagram on its way when it returns true.
    var drops: (_ datagram: ByteBuffer, _ isDownlink: Bool, _ client: TestClient) -> Bool = { _, _, _ in false }

    /// The durations that jobs report; all jobs are in fact done at once.
    var jobDuration: (Job.Kind) -> Duration = { _ in .zero }
    /// Workers that take the time of each job, the earliest deadline first; nil: jobs take no time.
    var pool: ModelledPool?
    /// Called with each tick's pictures before the relay gets them.
    var onComposed: ((ComposedTick) -> Void)?
    /// Called with each encoded frame before the relay gets it.
    var onEncoded: ((EncodedPicture) -> Void)?

    /// - Parameter seed: Seeds the relay's keys and identifiers.
    init(seed: UInt64 = 1, configure: (inout RelayConfiguration) -> Void = { _ in }) {
        var configuration = RelayConfiguration()
        configuration.canvas = VideoDimensions(width: 320, height: 180)
        configuration.frameRate = 15
        configuration.mediaAddresses = [Self.relayAddress]
        configuration.certificate = Self.relayCertificate
        // Most of these tests are about composing and encoding, even for two members.
        configuration.forwarding = .off
        configure(&configuration)
        relay = Relay(
            configuration: configuration, wallClock: wallClock, random: SeededGenerator(seed: seed), now: now)
    }

    /// Joins a client to a room.
    @discardableResult
    func join(
        _ name: String, room: String = "demo", colour: Colour? = nil, video: MediaDirection? = .sendAndReceive,
        audio: MediaDirection? = .sendAndReceive, selfView: SelfView? = nil, role: ParticipantRole = .sendAndReceive,
        overDTLS: Bool = false, returningAs: String? = nil, grants: MemberGrants = .open, isOpen: Bool = false,
        dimensions: VideoDimensions = VideoDimensions(width: 160, height: 90),
        downlink: LinkProfile = LinkProfile(rate: .unlimited, delay: .milliseconds(10)),
        rateLimits: RateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(600)),
        adjust: (inout OfferParameters) -> Void = { _ in },
        adjustRequest: (inout JoinRequest) -> Void = { _ in }
    ) throws -> TestClient {
        let address = TransportAddress(ipv4: 0x7f00_0001, port: UInt16(20_000 + joinCount))
        joinCount += 1
        var parameters = OfferParameters(address: address)
        parameters.video = video.map { OfferParameters.Video(direction: $0) }
        // Most tests' cameras send more than the relay would ask for.
        parameters.video?.feedback.tmmbr = false
        parameters.video?.feedback.remb = false
        parameters.audio = audio.map { OfferParameters.Audio(direction: $0) }
        if overDTLS, let fingerprint = Self.clientCertificate?.fingerprint {
            parameters.transport = .dtls(fingerprint: fingerprint, credentials: ICECredentials(using: &random))
        }
        adjust(&parameters)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        var request = JoinRequest(
            room: room, name: name, offer: rewriteOffer(offer.encode()), role: role, selfView: selfView,
            signallingPeer: address, returningAs: returningAs, grants: grants,
            newModeratorKey: isOpen ? [1, 2, 3] : nil)
        adjustRequest(&request)
        let result = try relay.join(request, now: now)
        let session = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: result.answer))
        let client = try TestClient(
            name: name, participantID: result.participantID, address: address, session: session, pending: pending,
            parameters: parameters,
            wallClock: wallClock, colour: colour, dimensions: dimensions, downlink: downlink,
            rateLimits: rateLimits, now: now)
        clients.append(client)
        drain()
        return client
    }

    /// Makes a new offer for a client that has joined.
    func renegotiate(_ client: TestClient, adjust: (inout OfferParameters) -> Void) throws {
        var parameters = client.parameters
        adjust(&parameters)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, previous: client.pending, using: &random)
        let result = try relay.renegotiate(
            room: "demo", participant: client.participantID, offer: ReceivedOffer(offer.encode()), now: now)
        let answer = try SessionDescription(parsing: result.answer)
        try client.peer.update(session: OfferAnswer.complete(pending: pending, answer: answer), now: now)
        client.pending = pending
        client.parameters = parameters
        drain()
    }

    /// Restarts a client's ICE session by a fragment.
    @discardableResult
    func restart(
        _ client: TestClient, with credentials: ICECredentials, ifMatch: String?
    ) throws(TrickleError) -> TrickleICEFragment? {
        let answer = try relay.trickle(
            room: "demo", participant: client.participantID, fragment: TrickleICEFragment(credentials: credentials),
            ifMatch: ifMatch, now: now)
        if let answer, let remote = answer.credentials, var transport = client.peer.session.transport {
            transport.localCredentials = credentials
            transport.remoteCredentials = remote
            transport.remoteCandidates = answer.candidates
            client.peer.update(transport: transport, now: now)
        }
        drain()
        return answer
    }

    /// New credentials for a client.
    func makeCredentials() -> ICECredentials { ICECredentials(using: &random) }

    func remove(_ client: TestClient) {
        clients.removeAll { $0 === client }
    }

    /// Runs the call for `duration` of virtual time.
    func run(for duration: Duration) {
        let end = now + duration
        while true {
            let next = nextEvent()
            guard next <= end else { break }
            now = max(now, next)
            step()
        }
        now = end
    }

    /// Lets time pass in which nothing runs, as in a paused container.
    func standStill(for duration: Duration) { now += duration }

    /// Runs until `condition` holds; returns false when it does not within `limit`.
    func run(until condition: () -> Bool, limit: Duration = .seconds(10)) -> Bool {
        let end = now + limit
        while !condition() {
            let next = nextEvent()
            guard next <= end else { return condition() }
            now = max(now, next)
            step()
        }
        return true
    }

    /// Hands the relay a datagram as if it had come from `source`.
    func inject(_ datagram: ByteBuffer, from source: TransportAddress) {
        relay.receive(datagram, from: source, now: now)
        drainRelay()
    }

    /// Lets a test act on the relay as its driver does.
    func act<Result>(_ action: (Relay, MonotonicInstant) throws -> Result) rethrows -> Result {
        defer { drain() }
        return try action(relay, now)
    }

    /// The events of the rooms since the last call.
    func roomEvents() -> [RoomEvent.Kind] {
        var kinds: [RoomEvent.Kind] = []
        while let event = relay.pollRoomEvent() { kinds.append(event.kind) }
        return kinds
    }

    /// Steps at the present time: a part that always wants to wake at once would stop the tests.
    private var stepsAtOnce = 0
    private var lastStep = MonotonicInstant.zero

    private func nextEvent() -> MonotonicInstant {
        var next = min(relay.nextWakeUp, pool?.nextCompletion ?? .distantFuture)
        for client in clients { next = min(next, client.nextWakeUp(now: now)) }
        for client in clients { next = min(next, client.nextUplinkDelivery, client.nextDownlinkDelivery) }
        return next
    }

    private func step() {
        stepsAtOnce = lastStep == now ? stepsAtOnce + 1 : 0
        lastStep = now
        if stepsAtOnce > 100_000 {
            let waking = clients.filter { $0.nextWakeUp(now: now) <= now }.map(\.name)
            fatalError("time stands still: \(relay.nextWakeUp <= now ? "the relay" : "\(waking)") wakes in vain")
        }
        for client in clients {
            while client.nextUplinkDelivery <= now, let datagram = client.uplink.deliver(now: now) {
                relay.receive(datagram, from: client.address, at: localAddress, now: now)
            }
            while client.nextDownlinkDelivery <= now, let delivery = client.downlink.deliverTimed(now: now) {
                client.receive(delivery, now: now)
            }
        }
        while let completion = pool?.popCompletion(now: now) { complete(completion) }
        if relay.nextWakeUp <= now { relay.wake(now: now) }
        for client in clients where client.nextWakeUp(now: now) <= now { client.wake(now: now) }
        drain()
    }

    private func complete(_ completion: JobCompletion) {
        if case .encoded(_, let result) = completion.output { onEncoded?(result) }
        if case .composed(_, let tick) = completion.output { onComposed?(tick) }
        relay.complete(completion, now: now)
    }

    private func drain() {
        drainRelay()
        for client in clients {
            while let datagram = client.pollTransmit(now: now) {
                guard !drops(datagram, false, client) else { continue }
                _ = client.uplink.send(datagram, size: DataSize(bytes: datagram.readableBytes), now: now)
            }
        }
    }

    private func drainRelay() {
        while let job = relay.pollJob() {
            guard pool == nil else {
                pool?.submit(job)
                continue
            }
            let instant = now
            var completion = job.run { instant }
            let duration = jobDuration(job.kind)
            if duration > .zero {
                completion = JobCompletion(
                    kind: completion.kind, queue: completion.queue, handedOut: completion.handedOut, started: instant,
                    finished: instant + duration, output: completion.output)
            }
            complete(completion)
        }
        pool?.start(lasting: jobDuration, now: now)
        while let transmit = relay.pollTransmit(now: now) {
            paths.insert(transmit.path)
            guard let client = clients.first(where: { $0.address == transmit.destination }) else {
                onUnclaimed?(transmit, now)
                continue
            }
            guard !drops(transmit.datagram, true, client) else { continue }
            _ = client.downlink.send(
                transmit.datagram, size: DataSize(bytes: transmit.datagram.readableBytes), now: now)
        }
    }
}

extension Relay {
    /// The numbers of rooms and of participants.
    var population: (rooms: Int, participants: Int) { (rooms.count, participants.count) }
}

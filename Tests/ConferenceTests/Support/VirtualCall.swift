import Conference
import MediaCore
import NIOCore
import RTP
import RateControl
import SecureTransport

/// A relay and its clients on virtual time: datagrams take `latency`, jobs take no time, nothing sleeps.
final class VirtualCall {
    static let relayAddress = TransportAddress(ipv4: 0x7f00_0001, port: 7000)

    let relay: Relay
    let wallClock = WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32))
    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private(set) var clients: [TestClient] = []
    private var inFlight: [Flight] = []
    let latency: Duration
    private var random = SeededGenerator(seed: 7)
    /// Drops a datagram on its way when it returns true.
    var drops: (_ datagram: ByteBuffer, _ isDownlink: Bool, _ client: TestClient) -> Bool = { _, _, _ in false }

    private struct Flight {
        var arrival: MonotonicInstant
        var datagram: ByteBuffer
        var source: TransportAddress
        var client: TestClient
        var isDownlink: Bool
    }

    init(latency: Duration = .milliseconds(10), configure: (inout RelayConfiguration) -> Void = { _ in }) {
        var configuration = RelayConfiguration()
        configuration.canvas = VideoDimensions(width: 320, height: 180)
        configuration.frameRate = 15
        configuration.mediaAddresses = [Self.relayAddress]
        configure(&configuration)
        self.latency = latency
        relay = Relay(
            configuration: configuration, wallClock: wallClock, random: SeededGenerator(seed: 1), now: now)
    }

    /// Joins a client to a room.
    @discardableResult
    func join(
        _ name: String, room: String = "demo", colour: Colour? = nil, video: MediaDirection? = .sendAndReceive,
        audio: MediaDirection? = .sendAndReceive, selfView: SelfView? = nil, role: ParticipantRole = .sendAndReceive,
        dimensions: VideoDimensions = VideoDimensions(width: 160, height: 90),
        adjust: (inout OfferParameters) -> Void = { _ in }
    ) throws -> TestClient {
        let address = TransportAddress(ipv4: 0x7f00_0001, port: UInt16(20_000 + clients.count))
        var parameters = OfferParameters(address: address)
        parameters.video = video.map { OfferParameters.Video(direction: $0) }
        parameters.audio = audio.map { OfferParameters.Audio(direction: $0) }
        adjust(&parameters)
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        let result = try relay.join(
            JoinRequest(
                room: room, name: name, offer: offer.encode(), role: role, selfView: selfView,
                signallingPeer: address),
            now: now)
        let session = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: result.answer))
        let client = try TestClient(
            name: name, participantID: result.participantID, address: address, session: session,
            wallClock: wallClock, colour: colour, dimensions: dimensions, now: now)
        clients.append(client)
        drain()
        return client
    }

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
        drain()
    }

    private func nextEvent() -> MonotonicInstant {
        var next = relay.nextWakeUp
        for client in clients { next = min(next, client.nextWakeUp(now: now)) }
        for flight in inFlight { next = min(next, flight.arrival) }
        return next
    }

    private func step() {
        let arrived = inFlight.filter { $0.arrival <= now }
        inFlight.removeAll { $0.arrival <= now }
        for flight in arrived {
            if flight.isDownlink {
                flight.client.receive(flight.datagram, now: now)
            } else {
                relay.receive(flight.datagram, from: flight.source, now: now)
            }
        }
        if relay.nextWakeUp <= now { relay.wake(now: now) }
        for client in clients where client.nextWakeUp(now: now) <= now { client.wake(now: now) }
        drain()
    }

    private func drain() {
        while let job = relay.pollJob() {
            let instant = now
            relay.complete(job.run { instant }, now: now)
        }
        while let transmit = relay.pollTransmit(now: now) {
            guard let client = clients.first(where: { $0.address == transmit.destination }) else { continue }
            send(transmit.datagram, source: Self.relayAddress, client: client, isDownlink: true)
        }
        for client in clients {
            while let datagram = client.pollTransmit(now: now) {
                send(datagram, source: client.address, client: client, isDownlink: false)
            }
        }
    }

    private func send(_ datagram: ByteBuffer, source: TransportAddress, client: TestClient, isDownlink: Bool) {
        guard !drops(datagram, isDownlink, client) else { return }
        inFlight.append(
            Flight(
                arrival: now + latency, datagram: datagram, source: source, client: client, isDownlink: isDownlink))
    }
}

/// A seeded generator for tests.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

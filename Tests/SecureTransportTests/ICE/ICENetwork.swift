import MediaCore
import NIOCore

@testable import SecureTransport

/// A client and a relay with a network between them that loses, delays, reorders and repeats, in virtual time.
struct ICENetwork {
    var relay: ICELiteAgent
    var client: ICEControllingAgent
    private(set) var now = MonotonicInstant.zero

    /// The relay's addresses, from the first of which nothing is reached when `deadAddresses` has it.
    var deadAddresses: Set<TransportAddress> = []
    /// The client's address as the relay sees it behind a NAT.
    var clientAddress = ICEFixture.address(1)
    /// The share of datagrams that is lost.
    var loss = 0.0
    /// The least delay of a datagram; the actual delay is between this and three times as much, which reorders.
    var delay = Duration.milliseconds(20)
    /// The share of datagrams that arrives twice.
    var repetition = 0.0
    /// If true, nothing arrives.
    var isCut = false

    private(set) var relayOutcomes: [ICELiteAgent.Outcome] = []
    private(set) var clientOutcomes: [ICEControllingAgent.Outcome] = []
    /// The times at which the client sent, with the destinations.
    private(set) var sent: [(at: MonotonicInstant, destination: TransportAddress)] = []

    private var random: SeededGenerator
    private var flying: [Flight] = []

    private struct Flight {
        var arrival: MonotonicInstant
        var isToRelay: Bool
        /// The client's address as the relay sees it.
        var clientAddress: TransportAddress
        var relayAddress: TransportAddress
        var datagram: ByteBuffer
    }

    init(candidates: [ICECandidate], seed: UInt64 = 1) {
        random = SeededGenerator(seed: seed)
        relay = ICELiteAgent(local: ICEFixture.relay, remote: ICEFixture.client, now: .zero)
        client = ICEControllingAgent(
            local: ICEFixture.client, remote: ICEFixture.relay, candidates: candidates,
            random: SeededGenerator(seed: seed &+ 1_000), now: .zero)
    }

    /// Advances time to an instant, or until the condition holds.
    mutating func run(until end: MonotonicInstant, or condition: (ICENetwork) -> Bool = { _ in false }) {
        while !condition(self) {
            transmit()
            let arrival = flying.map(\.arrival).min() ?? .distantFuture
            let next = min(arrival, client.nextDeadline, relay.nextDeadline)
            guard next <= end else {
                now = end
                return
            }
            now = max(now, next)
            client.advance(now: now)
            relay.advance(now: now)
            if let index = flying.firstIndex(where: { $0.arrival <= now }) { deliver(flying.remove(at: index)) }
        }
    }

    private mutating func transmit() {
        while let transmit = client.pollTransmit() {
            sent.append((now, transmit.destination))
            send(
                Flight(
                    arrival: now, isToRelay: true, clientAddress: clientAddress, relayAddress: transmit.destination,
                    datagram: transmit.datagram))
        }
    }

    private mutating func send(_ flight: Flight) {
        guard !isCut, !deadAddresses.contains(flight.relayAddress) else { return }
        for _ in 0..<(Double.random(in: 0..<1, using: &random) < repetition ? 2 : 1) {
            guard Double.random(in: 0..<1, using: &random) >= loss else { continue }
            var copy = flight
            copy.arrival = now + delay * Double.random(in: 1...3, using: &random)
            flying.append(copy)
        }
    }

    private mutating func deliver(_ flight: Flight) {
        guard !isCut else { return }
        if flight.isToRelay {
            let outcome = relay.receive(flight.datagram, from: flight.clientAddress, now: now)
            relayOutcomes.append(outcome)
            let answer: ByteBuffer? =
                switch outcome {
                case .answered(let response, _), .refused(_, let response): response
                default: nil
                }
            guard let answer else { return }
            var flight = flight
            flight.isToRelay = false
            flight.datagram = answer
            send(flight)
        } else if flight.clientAddress == clientAddress {
            // A datagram to an address that the client no longer has is lost.
            clientOutcomes.append(client.receive(flight.datagram, from: flight.relayAddress, now: now))
        }
    }
}

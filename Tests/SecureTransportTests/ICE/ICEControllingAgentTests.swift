import HostileBytes
import MediaCore
import NIOCore
import Testing

@testable import SecureTransport

@Suite struct ICEControllingAgentTests {
    private typealias Fixture = ICEFixture

    private static let relayAddresses = [ICEFixture.address(100, port: 7_000), ICEFixture.address(101, port: 7_000)]

    private func network(addresses: [TransportAddress] = relayAddresses, seed: UInt64 = 1) -> ICENetwork {
        ICENetwork(candidates: ICECandidate.hostCandidates(addresses), seed: seed)
    }

    @Test("the candidate of the highest priority is chosen and nominated, and both sides agree")
    func connects() {
        var network = network()
        network.run(until: Fixture.at(2)) { $0.client.isNominated }
        #expect(network.client.state == .connected && network.relay.state == .connected)
        #expect(network.client.selectedAddress == Self.relayAddresses[0])
        #expect(network.relay.selectedAddress == network.clientAddress)
        #expect(network.client.reflexiveAddress == network.clientAddress)
        #expect(network.client.isValidated(Self.relayAddresses[0]))
        // Two round trips of at most 120 ms: one to know that it answers, one to nominate it.
        #expect(network.now <= Fixture.at(0.24))
    }

    @Test("checks are paced, and sent again after the RFC's timeouts")
    func pacing() {
        var network = network()
        network.isCut = true
        network.run(until: Fixture.at(29))
        let first = network.sent.filter { $0.destination == Self.relayAddresses[0] }.map(\.at)
        let second = network.sent.filter { $0.destination == Self.relayAddresses[1] }.map(\.at)
        #expect(first == [0, 0.5, 1.5, 3.5, 7.5, 15.5].map(Fixture.at))
        #expect(second == [0.05, 0.55, 1.55, 3.55, 7.55, 15.55].map(Fixture.at))
    }

    @Test("a relay that never answers fails after 30 s, and no more is sent")
    func neverAnswered() {
        var network = network()
        network.isCut = true
        network.run(until: Fixture.at(60))
        #expect(network.client.state == .failed && network.client.selectedAddress == nil)
        #expect(network.client.nextDeadline == .distantFuture)
        #expect(network.sent.allSatisfy { $0.at < Fixture.at(30) })
        #expect(network.relay.state == .failed)
    }

    @Test("an agent that has failed wants no wake-up for a candidate that comes too late, and a restart checks it")
    func lateCandidate() {
        var network = network(addresses: [Self.relayAddresses[0]])
        network.isCut = true
        network.run(until: Fixture.at(31))
        let late = ICECandidate.hostCandidates([Self.relayAddresses[1]])
        network.client.add(late)
        #expect(network.client.state == .failed && network.client.nextDeadline == .distantFuture)
        network.client.restart(local: Fixture.client, remote: Fixture.relay, candidates: late, now: network.now)
        let check = network.client.pollTransmit()
        #expect(check?.destination == Self.relayAddresses[1])
    }

    @Test("if the better candidate is dead, the other one is nominated after the patience")
    func deadCandidate() {
        var network = network()
        network.deadAddresses = [Self.relayAddresses[0]]
        network.run(until: Fixture.at(2)) { $0.client.selectedAddress != nil }
        #expect(!network.client.isNominated && network.client.selectedAddress == Self.relayAddresses[1])
        network.run(until: Fixture.at(2)) { $0.client.isNominated }
        #expect(network.client.selectedAddress == Self.relayAddresses[1])
        #expect(network.now < Fixture.at(0.6))
    }

    @Test("30 % loss each way, reordering and repetition only cost time", arguments: 0..<40)
    func lossy(seed: UInt64) {
        var network = network(seed: seed)
        network.loss = 0.3
        network.repetition = 0.1
        network.delay = .milliseconds(40)
        network.run(until: Fixture.at(30)) { $0.client.isNominated && $0.relay.selectedAddress != nil }
        #expect(network.client.isNominated)
        #expect(network.client.state == .connected && network.relay.state == .connected)
        // It stays so for minutes: a check that is not answered is followed by others within the 30 s.
        network.run(until: network.now + .seconds(180))
        #expect(network.client.state != .failed && network.relay.state != .failed)
        #expect(!network.relayOutcomes.contains(.replayed))
    }

    @Test("consent is asked for every five seconds, randomly by a fifth more or less")
    func consent() {
        var network = network(addresses: [Self.relayAddresses[0]])
        network.run(until: Fixture.at(1)) { $0.client.isNominated }
        let start = network.sent.count
        network.run(until: Fixture.at(600)) { $0.client.state != .connected }
        let times = network.sent[start...].map(\.at)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.count > 90)
        #expect(gaps.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(6) })
        #expect(Set(gaps).count > 50)
        #expect(network.client.state == .connected && network.client.selectedAddress == Self.relayAddresses[0])
    }

    @Test("a client that gets a new address keeps its session, and the relay follows at the next check")
    func changedAddress() {
        var network = network()
        network.run(until: Fixture.at(3))
        network.clientAddress = Fixture.address(200, port: 1_234)
        network.client.checkNow(now: network.now)
        network.run(until: Fixture.at(4))
        #expect(network.relay.selectedAddress == network.clientAddress)
        #expect(network.relay.state == .connected && network.client.state == .connected)
        #expect(network.client.reflexiveAddress == network.clientAddress)

        // Without a hint it takes until the next check of consent.
        network.clientAddress = Fixture.address(201, port: 4_321)
        network.run(until: network.now + .seconds(7))
        #expect(network.relay.selectedAddress == network.clientAddress)
    }

    @Test("a client whose media stop because its address is another checks within a second, and once in a pause")
    func changedAddressUnderMedia() {
        var network = network(addresses: [Self.relayAddresses[0]])
        network.run(until: Fixture.at(1)) { $0.client.isNominated }
        for _ in 0..<300 {
            network.run(until: network.now + .milliseconds(20))
            network.client.recordLiveness(from: Self.relayAddresses[0], now: network.now)
        }
        let start = network.now
        let checks = network.sent.count
        network.clientAddress = Fixture.address(201, port: 4_321)
        network.run(until: start + .seconds(2)) { $0.relay.selectedAddress == $0.clientAddress }
        #expect(network.relay.selectedAddress == network.clientAddress)
        #expect(network.now - start <= .milliseconds(1_100))
        network.run(until: start + .seconds(5))
        #expect(network.sent.count == checks + 1)
        #expect(network.client.state == .connected)
    }

    @Test("media that come rarely are no reason to check in each of their pauses")
    func rareMedia() {
        var network = network(addresses: [Self.relayAddresses[0]])
        network.run(until: Fixture.at(1)) { $0.client.isNominated }
        let start = network.sent.count
        for _ in 0..<60 {
            network.run(until: network.now + .milliseconds(1_500))
            network.client.recordLiveness(from: Self.relayAddresses[0], now: network.now)
        }
        let times = network.sent[start...].map(\.at)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(4) })
    }

    @Test("a network that is gone for a while disconnects both, and they find each other again within two seconds")
    func outage() {
        var network = network()
        network.run(until: Fixture.at(3))
        network.isCut = true
        network.run(until: Fixture.at(20))
        #expect(network.client.state == .disconnected && network.relay.state == .disconnected)
        #expect(network.client.selectedAddress == Self.relayAddresses[0])
        network.isCut = false
        network.clientAddress = Fixture.address(55)
        network.run(until: Fixture.at(22))
        #expect(network.client.state == .connected && network.relay.state == .connected)
        #expect(network.relay.selectedAddress == network.clientAddress)
    }

    @Test("if the relay's address dies, another of its addresses is found")
    func relayAddressDies() {
        var network = network()
        network.run(until: Fixture.at(3))
        network.deadAddresses = [Self.relayAddresses[0]]
        network.run(until: Fixture.at(20))
        #expect(network.client.state == .connected)
        #expect(network.client.selectedAddress == Self.relayAddresses[1])
    }

    @Test("answers that take two seconds are still good while the way is looked for")
    func slowRecovery() {
        var network = network()
        network.run(until: Fixture.at(3))
        network.delay = .milliseconds(600)
        network.run(until: Fixture.at(60))
        #expect(network.client.state != .failed && network.relay.state != .failed)
        network.isCut = true
        network.run(until: Fixture.at(70))
        network.isCut = false
        network.run(until: Fixture.at(77))
        #expect(network.client.state == .connected)
    }

    @Test("an outage of more than 30 s ends it for both")
    func lostConsent() {
        var network = network()
        network.run(until: Fixture.at(3))
        network.isCut = true
        network.run(until: Fixture.at(40))
        #expect(network.client.state == .failed && network.relay.state == .failed)
        #expect(network.client.selectedAddress == nil && network.relay.selectedAddress == nil)
        #expect(!network.client.isValidated(Self.relayAddresses[0]))
        let count = network.sent.count
        network.isCut = false
        network.run(until: Fixture.at(100))
        #expect(network.sent.count == count)
    }

    @Test("a restart finds a new path while the old one stays in use, also after a failure", arguments: [false, true])
    func restart(afterFailure: Bool) {
        var network = network()
        network.run(until: Fixture.at(3))
        if afterFailure {
            network.isCut = true
            network.run(until: Fixture.at(40))
            network.isCut = false
        }
        let former = network.client.selectedAddress
        let fresh = Fixture.address(102, port: 7_000)
        network.relay.restart(local: Fixture.otherRelay, remote: Fixture.otherClient, now: network.now)
        network.client.restart(
            local: Fixture.otherClient, remote: Fixture.otherRelay, candidates: ICECandidate.hostCandidates([fresh]),
            now: network.now)
        #expect(network.client.selectedAddress == former && !network.client.isNominated)
        network.run(until: network.now + .seconds(2)) { $0.client.isNominated }
        #expect(network.client.selectedAddress == fresh)
        #expect(network.client.state == .connected && network.relay.state == .connected)
    }

    @Test("a peer that also wants to be controlling is not a lite agent: there is no session with it")
    func roleConflict() throws {
        var network = network(addresses: [Self.relayAddresses[0]])
        network.client.advance(now: .zero)
        let transmit = network.client.pollTransmit()
        let check = try #require(transmit)
        let request = try STUNMessage(parsing: check.datagram)
        var builder = STUNMessageBuilder(.errorResponse, transactionID: request.transactionID)
        builder.append(errorCode: STUNErrorCode.roleConflict)
        var unsigned = builder
        #expect(
            network.client.receive(unsigned.finish(), from: check.destination, now: Fixture.at(0.1))
                == .unauthenticated)
        #expect(network.client.state == .new)
        builder.appendIntegrity(key: Fixture.relayKey)
        #expect(
            network.client.receive(builder.finish(), from: check.destination, now: Fixture.at(0.1))
                == .refused(code: 487))
        #expect(network.client.state == .failed)
    }

    @Test("an answer with a wrong password, from elsewhere, or without a request is ignored")
    func forgedAnswers() throws {
        var client = ICEControllingAgent(
            local: Fixture.client, remote: Fixture.relay,
            candidates: ICECandidate.hostCandidates([Self.relayAddresses[0]]), random: SeededGenerator(seed: 1),
            now: .zero)
        client.advance(now: .zero)
        let transmit = client.pollTransmit()
        let check = try #require(transmit)
        let id = try STUNMessage(parsing: check.datagram).transactionID
        func answer(_ id: STUNTransactionID, password: String) -> ByteBuffer {
            var builder = STUNMessageBuilder(.successResponse, transactionID: id)
            builder.append(mappedAddress: Fixture.address(1))
            builder.appendIntegrity(key: HMACSHA1Key(Array(password.utf8)))
            return builder.finish()
        }
        let good = answer(id, password: Fixture.relay.password)
        let other = STUNTransactionID(high: id.high, low: id.low ^ 1)
        let source = check.destination
        #expect(client.receive(answer(id, password: "no"), from: source, now: .zero) == .unauthenticated)
        #expect(client.receive(good, from: Self.relayAddresses[1], now: .zero) == .ignored)
        #expect(
            client.receive(answer(other, password: Fixture.relay.password), from: source, now: .zero) == .ignored)
        #expect(client.receive(check.datagram, from: source, now: .zero) == .ignored)
        // Only an answer that is awaited is read.
        for (id, outcome) in [
            (id, ICEControllingAgent.Outcome.malformed(.wrongFingerprint)), (other, .ignored),
        ] {
            var changed = answer(id, password: Fixture.relay.password)
            changed.setInteger(UInt32(0), at: changed.writerIndex - 4)
            #expect(client.receive(changed, from: source, now: .zero) == outcome)
        }
        #expect(
            client.receive(ByteBuffer(bytes: [0]), from: source, now: .zero)
                == .malformed(.unacceptableSize(byteCount: 1)))
        #expect(client.state == .new && !client.isValidated(source))
        #expect(client.receive(good, from: source, now: .zero) == .succeeded(isNew: true))
        #expect(client.receive(good, from: source, now: .zero) == .ignored)
    }

    @Test("candidates that arrive later are checked; duplicates, other components and those over the limit are not")
    func laterCandidates() {
        var client = ICEControllingAgent(
            local: Fixture.client, remote: Fixture.relay, random: SeededGenerator(seed: 1), now: .zero)
        client.advance(now: .zero)
        #expect(client.pollTransmit() == nil)
        var candidates = ICECandidate.hostCandidates((1...100).map { Fixture.address($0, port: 9) })
        candidates.append(candidates[0])
        candidates[1].component = 2
        client.add(candidates)
        var destinations: [TransportAddress] = []
        for tick in 0..<60 {
            client.advance(now: Fixture.at(Double(tick) * 0.05))
            while let transmit = client.pollTransmit() { destinations.append(transmit.destination) }
        }
        #expect(Set(destinations).count == ICEControllingAgent.pairLimit)
        #expect(destinations.first == Fixture.address(1, port: 9))
        #expect(!destinations.contains(Fixture.address(2, port: 9)))
    }

    @Test("changed answers are refused, never a trap")
    func mutatedAnswers() throws {
        var generator = SeededGenerator(seed: 7)
        var client = ICEControllingAgent(
            local: Fixture.client, remote: Fixture.relay,
            candidates: ICECandidate.hostCandidates([Self.relayAddresses[0]]), random: SeededGenerator(seed: 1),
            now: .zero)
        client.advance(now: .zero)
        let transmit = client.pollTransmit()
        let check = try #require(transmit)
        var relay = ICELiteAgent(local: Fixture.relay, remote: Fixture.client, now: .zero)
        guard case .answered(let answer?, _) = relay.receive(check.datagram, from: Fixture.address(1), now: .zero)
        else {
            Issue.record("no answer")
            return
        }
        let bytes = Array(answer.readableBytesView)
        for _ in 0..<5_000 {
            let changed = generator.mutate(bytes)
            guard changed != bytes else { continue }
            let outcome = client.receive(ByteBuffer(bytes: changed), from: check.destination, now: .zero)
            // Shortened to the part that the integrity covers, it is complete.
            guard !changed.starts(with: bytes.dropLast(8)) else { continue }
            if case .succeeded = outcome { Issue.record("a changed answer was believed") }
        }
    }
}

import HostileBytes
import MediaCore
import NIOCore
import Testing

@testable import SecureTransport

@Suite struct ICELiteAgentTests {
    private typealias Fixture = ICEFixture

    private let source = ICEFixture.address(1)
    private let other = ICEFixture.address(2)

    private func agent() -> ICELiteAgent {
        ICELiteAgent(local: Fixture.relay, remote: Fixture.client, now: .zero)
    }

    private func response(_ outcome: ICELiteAgent.Outcome) -> ByteBuffer? {
        switch outcome {
        case .answered(let response, _), .refused(_, let response): response
        default: nil
        }
    }

    @Test(
        "a check is answered with where it came from, signed with our password",
        arguments: ["192.0.2.9", "2001:db8::9"])
    func answer(host: String) throws {
        var agent = agent()
        let source = try #require(TransportAddress(host: host, port: 4_321))
        #expect(agent.state == .new)
        #expect(agent.selectedAddress == nil && !agent.isValidated(source))
        let request = Fixture.check(1)
        let outcome = agent.receive(request, from: source, now: .zero)
        let answer = try #require(response(outcome))
        #expect(outcome == .answered(response: answer, isNew: true))
        #expect(answer.readableBytes <= request.readableBytes)
        let message = try STUNMessage(parsing: answer)
        #expect(message.messageClass == .successResponse)
        #expect(message.transactionID == STUNTransactionID(high: 1, low: 1))
        #expect(message.mappedAddress == source)
        #expect(message.hasFingerprint)
        #expect(message.isAuthentic(key: Fixture.relayKey))
        #expect(agent.state == .connected)
        #expect(agent.selectedAddress == source && agent.isValidated(source))
    }

    @Test("a check sent again is answered again, and validates nothing new")
    func retransmission() {
        var agent = agent()
        let first = agent.receive(Fixture.check(1), from: source, now: .zero)
        let second = agent.receive(Fixture.check(1), from: source, now: Fixture.at(0.1))
        #expect(second == .answered(response: response(first), isNew: false))
    }

    @Test("a check with a wrong password, a wrong name or none gets no answer and validates nothing")
    func unauthenticated() {
        var agent = agent()
        var nameless = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 3, low: 3))
        nameless.append(priority: 1)
        var unsigned = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 3, low: 4))
        unsigned.append(username: Array("relay123:Clnt".utf8))
        for check in [
            Fixture.check(1, password: "relaypasswordrelaypass02"), Fixture.check(2, to: Fixture.otherRelay),
            Fixture.check(3, from: Fixture.otherClient), nameless.finish(), unsigned.finish(),
        ] {
            #expect(agent.receive(check, from: source, now: .zero) == .unauthenticated)
        }
        #expect(agent.state == .new)
        #expect(agent.selectedAddress == nil && !agent.isValidated(source))
    }

    @Test("a check without a fingerprint is malformed, indications and answers are passed over")
    func otherMessages() {
        var agent = agent()
        let key = ICECheckKey(receiver: Fixture.relay, sender: Fixture.client)
        var bare = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 3, low: 3))
        bare.append(username: key.username)
        bare.appendIntegrity(key: key.password)
        #expect(
            agent.receive(bare.finishWithoutFingerprint(), from: source, now: .zero)
                == .malformed(.missingFingerprint))
        for messageClass in [STUNMessage.Class.indication, .successResponse, .errorResponse] {
            var builder = STUNMessageBuilder(messageClass, transactionID: STUNTransactionID(high: 3, low: 3))
            builder.append(username: key.username)
            builder.appendIntegrity(key: key.password)
            #expect(agent.receive(builder.finish(), from: source, now: .zero) == .ignored)
        }
        #expect(
            agent.receive(ByteBuffer(bytes: [1, 2, 3]), from: source, now: .zero)
                == .malformed(.unacceptableSize(byteCount: 3)))
        #expect(!agent.isValidated(source))
    }

    @Test("a peer that takes our role gets the role conflict error, and validates nothing")
    func roleConflict() throws {
        var agent = agent()
        let request = Fixture.check(1, role: .controlled(tieBreaker: .max))
        let outcome = agent.receive(request, from: source, now: .zero)
        let answer = try #require(response(outcome))
        #expect(outcome == .refused(code: 487, response: answer))
        #expect(answer.readableBytes <= request.readableBytes)
        let message = try STUNMessage(parsing: answer)
        #expect(message.messageClass == .errorResponse && message.errorCode == 487)
        #expect(message.isAuthentic(key: Fixture.relayKey))
        #expect(!agent.isValidated(source) && agent.state == .new)
    }

    @Test("unknown attributes that must be understood are listed in the answer")
    func unknownAttributes() throws {
        var agent = agent()
        let key = ICECheckKey(receiver: Fixture.relay, sender: Fixture.client)
        var plain = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 4, low: 4))
        plain.append(username: key.username)
        // Two of types that nobody has given a meaning to: the builder has no word for them.
        var bytes = plain.buffer
        bytes.writeInteger(UInt32(0x7F01_0000))
        bytes.writeInteger(UInt32(0x7F02_0000))
        let request = ICELiteAgentTests.signed(bytes, key: key.password)
        let outcome = agent.receive(request, from: source, now: .zero)
        let answer = try #require(response(outcome))
        #expect(outcome == .refused(code: 420, response: answer))
        #expect(answer.readableBytes <= request.readableBytes)
        let listed = Array(answer.readableBytesView)[28..<36]
        #expect(Array(listed) == [0x00, 0x0A, 0x00, 0x04, 0x7F, 0x01, 0x7F, 0x02])
    }

    @Test("an answer is not larger than its request: it goes without a fingerprint, or not at all")
    func noAmplification() throws {
        let short = ICECredentials(usernameFragment: "abcd", password: Fixture.relay.password)
        let peer = ICECredentials(usernameFragment: "efgh", password: Fixture.client.password)
        let key = ICECheckKey(receiver: short, sender: peer)
        let ipv6 = try #require(TransportAddress(host: "2001:db8::1", port: 1))
        var sizes: [Int?] = []
        for withPriority in [true, false] {
            var agent = ICELiteAgent(local: short, remote: peer, now: .zero)
            var builder = STUNMessageBuilder(.request, transactionID: STUNTransactionID(high: 4, low: 4))
            builder.append(username: key.username)
            if withPriority { builder.append(priority: 1) }
            builder.appendIntegrity(key: key.password)
            let request = builder.finish()
            let answer = response(agent.receive(request, from: ipv6, now: .zero))
            #expect(agent.isValidated(ipv6))
            #expect(answer?.readableBytes ?? 0 <= request.readableBytes)
            sizes.append(answer?.readableBytes)
        }
        #expect(sizes == [76, 68])
    }

    @Test("the address nominated last is selected; before any is, the one validated last")
    func nomination() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1), from: source, now: .zero)
        _ = agent.receive(Fixture.check(2), from: other, now: .zero)
        #expect(agent.selectedAddress == other)
        _ = agent.receive(Fixture.check(3), from: source, now: .zero)
        #expect(agent.selectedAddress == other)
        _ = agent.receive(Fixture.check(4, nominates: true), from: source, now: .zero)
        #expect(agent.selectedAddress == source)
        _ = agent.receive(Fixture.check(5), from: other, now: .zero)
        #expect(agent.selectedAddress == source)
        // A phone that goes from one network to another nominates from its new address.
        let moved = Fixture.address(77)
        _ = agent.receive(Fixture.check(6, nominates: true), from: moved, now: Fixture.at(2))
        #expect(agent.selectedAddress == moved)
        #expect(agent.isValidated(source))
    }

    @Test("of two paths from one address to two of ours, the one nominated last is selected while it lives")
    func localAddresses() {
        var agent = agent()
        let (first, second) = (Fixture.address(101, port: 0), Fixture.address(102, port: 0))
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, at: first, now: .zero)
        #expect(agent.receive(Fixture.check(2), from: source, at: first, now: .zero).isOfKnownPath)
        #expect(!agent.receive(Fixture.check(3), from: source, at: second, now: Fixture.at(1)).isOfKnownPath)
        #expect(agent.selectedPath == NetworkPath(remote: source, local: first))
        _ = agent.receive(Fixture.check(4, nominates: true), from: source, at: second, now: Fixture.at(2))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: second))
        _ = agent.receive(Fixture.check(5), from: source, at: first, now: Fixture.at(20))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: second))
        #expect(agent.state == .disconnected)
        agent.advance(now: Fixture.at(32))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: first))
    }

    @Test("a path on which nothing can be sent gives way to another that was checked, until a check comes on it")
    func sendingFailed() {
        var agent = agent()
        let (first, second) = (Fixture.address(101, port: 0), Fixture.address(102, port: 0))
        _ = agent.receive(Fixture.check(1), from: source, at: second, now: .zero)
        _ = agent.receive(Fixture.check(2, nominates: true), from: source, at: first, now: Fixture.at(1))
        agent.sendingFailed(on: NetworkPath(remote: source, local: first), now: Fixture.at(2))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: second))
        agent.sendingFailed(on: NetworkPath(remote: source, local: second), now: Fixture.at(2))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: first))
        _ = agent.receive(Fixture.check(3), from: source, at: second, now: Fixture.at(3))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: second))
        _ = agent.receive(Fixture.check(4), from: source, at: first, now: Fixture.at(4))
        #expect(agent.selectedPath == NetworkPath(remote: source, local: first))
    }

    @Test("a check caught and sent again from or to elsewhere validates nothing")
    func replay() {
        var agent = agent()
        let check = Fixture.check(1, nominates: true)
        _ = agent.receive(check, from: source, now: .zero)
        #expect(agent.receive(check, from: other, now: .zero) == .replayed)
        #expect(agent.selectedAddress == source && !agent.isValidated(other))
        #expect(agent.receive(check, from: source, at: Fixture.address(101, port: 0), now: .zero) == .replayed)
        #expect(agent.selectedPath == NetworkPath(remote: source))
        _ = agent.receive(Fixture.check(2, nominates: true), from: other, now: Fixture.at(1))
        #expect(response(agent.receive(check, from: source, now: Fixture.at(2))) != nil)
        #expect(agent.selectedAddress == other)
    }

    @Test("a check caught hours ago validates nothing")
    func lateReplay() {
        var agent = agent()
        let checks = (0..<UInt64(4096)).map { Fixture.check($0, nominates: true) }
        for (number, check) in checks.enumerated() {
            _ = agent.receive(check, from: source, now: Fixture.at(Double(number) * 2.5))
        }
        for check in checks[..<4] { #expect(agent.receive(check, from: other, now: Fixture.at(10_240)) == .replayed) }
        #expect(agent.selectedAddress == source && !agent.isValidated(other))
    }

    @Test("IPv4 in its mapped form is the same address")
    func mappedAddress() throws {
        var agent = agent()
        let mapped = try #require(TransportAddress(host: "::ffff:192.0.2.1", port: 50_000))
        _ = agent.receive(Fixture.check(1), from: mapped, now: .zero)
        #expect(agent.selectedAddress == source)
        #expect(agent.isValidated(mapped) && agent.isValidated(source))
    }

    @Test("silence for 5 s disconnects, and a check or media from there connects again")
    func silence() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        #expect(agent.nextDeadline == Fixture.at(5))
        agent.recordLiveness(from: source, now: Fixture.at(4))
        agent.recordLiveness(from: other, now: Fixture.at(6))
        agent.advance(now: Fixture.at(8.9))
        #expect(agent.state == .connected)
        #expect(agent.nextDeadline == Fixture.at(9))
        agent.advance(now: Fixture.at(9))
        #expect(agent.state == .disconnected)
        #expect(agent.selectedAddress == source)
        agent.recordLiveness(from: source, now: Fixture.at(10))
        #expect(agent.state == .connected)
        agent.advance(now: Fixture.at(15))
        #expect(agent.state == .disconnected)
        _ = agent.receive(Fixture.check(2), from: source, now: Fixture.at(16))
        #expect(agent.state == .connected)
    }

    @Test("30 s without a check or media on the path end the consent, and only a restart renews it")
    func consent() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        for second in 1..<30 {
            agent.advance(now: Fixture.at(Double(second)))
            agent.recordLiveness(from: other, now: Fixture.at(Double(second)))
        }
        agent.advance(now: Fixture.at(30))
        #expect(agent.state == .failed)
        #expect(agent.selectedAddress == nil && !agent.isValidated(source))
        #expect(agent.nextDeadline == .distantFuture)
        #expect(agent.receive(Fixture.check(2), from: source, now: Fixture.at(31)) == .expired)
        agent.recordLiveness(from: source, now: Fixture.at(31))
        #expect(agent.state == .failed && agent.selectedAddress == nil)

        agent.restart(local: Fixture.otherRelay, remote: Fixture.otherClient, now: Fixture.at(40))
        #expect(agent.state == .disconnected)
        #expect(agent.receive(Fixture.check(3), from: source, now: Fixture.at(41)) == .unauthenticated)
        _ = agent.receive(
            Fixture.check(4, to: Fixture.otherRelay, from: Fixture.otherClient), from: source, now: Fixture.at(41))
        #expect(agent.state == .connected && agent.selectedAddress == source)
    }

    @Test("a client that checks only at the start stays as long as its media come, and 30 s more")
    func mediaWithoutChecks() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        for second in 1...100 {
            agent.advance(now: Fixture.at(Double(second)))
            agent.recordLiveness(from: source, now: Fixture.at(Double(second)))
            #expect(agent.state == .connected && agent.selectedAddress == source)
        }
        agent.advance(now: Fixture.at(129.9))
        #expect(agent.state == .disconnected)
        agent.advance(now: Fixture.at(130))
        #expect(agent.state == .failed)
    }

    @Test("an agent that never gets a check fails after 30 s")
    func neverChecked() {
        var agent = agent()
        #expect(agent.nextDeadline == Fixture.at(30))
        agent.advance(now: Fixture.at(29.9))
        #expect(agent.state == .new)
        agent.advance(now: Fixture.at(30))
        #expect(agent.state == .failed)
    }

    @Test("if the nominated path dies, a living one replaces it")
    func otherPathLives() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        for number in 1...7 {
            _ = agent.receive(Fixture.check(UInt64(number) + 1), from: other, now: Fixture.at(Double(number) * 4))
        }
        #expect(agent.selectedAddress == source && agent.state == .disconnected)
        agent.advance(now: Fixture.at(30))
        #expect(agent.selectedAddress == other && agent.state == .connected)
    }

    @Test("old credentials are good until the first check with the new ones, the old path until one is nominated")
    func restart() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        agent.restart(local: Fixture.otherRelay, remote: Fixture.otherClient, now: Fixture.at(1))
        #expect(agent.selectedAddress == source && agent.state == .connected)
        #expect(
            response(agent.receive(Fixture.check(2, nominates: true), from: source, now: Fixture.at(1.1))) != nil)

        let check = Fixture.check(3, to: Fixture.otherRelay, from: Fixture.otherClient)
        #expect(response(agent.receive(check, from: other, now: Fixture.at(1.2))) != nil)
        #expect(agent.selectedAddress == source && agent.isValidated(other))
        #expect(
            agent.receive(Fixture.check(4, nominates: true), from: source, now: Fixture.at(1.3)) == .unauthenticated)
        let nomination = Fixture.check(5, to: Fixture.otherRelay, from: Fixture.otherClient, nominates: true)
        #expect(response(agent.receive(nomination, from: other, now: Fixture.at(1.4))) != nil)
        #expect(agent.selectedAddress == other && agent.isValidated(source))
    }

    @Test("thousands of addresses cost bounded memory, and the selected one is kept")
    func manyAddresses() {
        var agent = agent()
        _ = agent.receive(Fixture.check(0, nominates: true), from: source, now: .zero)
        var validated: [TransportAddress] = []
        for number in 1...2_000 {
            let address = Fixture.address(9, port: UInt16(number))
            validated.append(address)
            _ = agent.receive(Fixture.check(UInt64(number)), from: address, now: Fixture.at(Double(number) / 1_000))
        }
        #expect(validated.count { agent.isValidated($0) } == ICELiteAgent.pathLimit - 1)
        #expect(agent.isValidated(source) && agent.selectedAddress == source)
    }

    @Test("a flood of packets that are not authentic changes nothing")
    func flood() {
        var agent = agent()
        _ = agent.receive(Fixture.check(1, nominates: true), from: source, now: .zero)
        var generator = SeededGenerator(seed: 30)
        let check = Array(Fixture.check(2, nominates: true).readableBytesView)
        var outcomes: [String: Int] = [:]
        for round in 0..<6_000 {
            let flooder = Fixture.address(UInt8(round % 200), port: UInt16(round))
            let changed = generator.mutate(check)
            guard changed != check else { continue }
            let datagram =
                round.isMultiple(of: 2)
                ? ByteBuffer(bytes: changed)
                : Fixture.check(UInt64(round), nominates: true, password: "guess\(round)guessguessguess")
            switch agent.receive(datagram, from: flooder, now: Fixture.at(0.1)) {
            case .malformed: outcomes["malformed", default: 0] += 1
            case .unauthenticated: outcomes["unauthenticated", default: 0] += 1
            case let outcome: Issue.record("\(outcome)")
            }
        }
        #expect(outcomes["malformed", default: 0] > 2_400 && outcomes["unauthenticated", default: 0] > 2_400)
        #expect(agent.selectedAddress == source)
    }

    /// Appends MESSAGE-INTEGRITY and FINGERPRINT to a message that the builder cannot write.
    private static func signed(_ message: ByteBuffer, key: HMACSHA1Key) -> ByteBuffer {
        var bytes = message
        let count = bytes.readableBytes
        bytes.setInteger(UInt16(count + 4), at: 2)
        if let code = HMACSHA1(ofSTUN: bytes, upTo: count, headerLength: UInt16(count + 4), key: key) {
            bytes.writeInteger(UInt32(0x0008_0014))
            code.write(to: &bytes)
        }
        bytes.setInteger(UInt16(bytes.readableBytes - 12), at: 2)
        let checksum = CRC32.checksum(of: bytes)
        bytes.writeInteger(UInt32(0x8028_0004))
        bytes.writeInteger(checksum ^ 0x5354_554E)
        return bytes
    }
}

extension ICELiteAgent.Outcome {
    /// True for an authentic check on a path that was validated before.
    fileprivate var isOfKnownPath: Bool {
        if case .answered(_, isNew: false) = self { true } else { false }
    }
}

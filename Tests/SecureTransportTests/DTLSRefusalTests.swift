import HostileBytes
import MediaCore
import NIOCore
import SecureTransport
import Testing

/// The peers that a connection refuses, and its handling of records that it cannot use.
@Suite struct DTLSRefusalTests {
    private static let stranger = CertificateFingerprint(digest: [UInt8](repeating: 7, count: 32))

    @Test("a server refuses a client whose certificate is not the one in the session description, before any key")
    func wrongClient() throws {
        let link = try DTLSLink(serverExpects: [#require(Self.stranger)])
        link.run()
        #expect(link.serverEvents == [.failed(.fingerprintMismatch)])
        #expect(link.clientEvents == [.failed(.alertReceived(code: 42, name: "bad certificate"))])
    }

    @Test("a client refuses a server whose certificate is not the one in the session description, before any key")
    func wrongServer() throws {
        let link = try DTLSLink(clientExpects: [#require(Self.stranger)])
        link.run()
        #expect(link.clientEvents == [.failed(.fingerprintMismatch)])
        #expect(link.serverEvents == [.failed(.alertReceived(code: 42, name: "bad certificate"))])
    }

    @Test("a certificate that differs in the last bit of its digest is a stranger's")
    func lastBit() throws {
        var digest = try #require(DTLSLink.clientCertificate).fingerprint.digest
        digest[31] ^= 1
        let link = try DTLSLink(serverExpects: [#require(CertificateFingerprint(digest: digest))])
        link.run()
        #expect(link.serverEvents == [.failed(.fingerprintMismatch)])
        #expect(link.clientKeys == nil)
    }

    @Test("one of several fingerprints is enough")
    func severalFingerprints() throws {
        let link = try DTLSLink(
            serverExpects: [#require(Self.stranger), #require(DTLSLink.clientCertificate).fingerprint])
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
    }

    @Test("without a fingerprint no association is begun")
    func missingFingerprint() {
        #expect(throws: DTLSError.missingFingerprint) { try DTLSLink(serverExpects: []) }
    }

    @Test("a copied certificate without its key does not help")
    func replayedCertificate() throws {
        // The client's flights of one association, sent to the server of another.
        let recorded = try DTLSLink()
        recorded.run(until: \.isEstablished)
        let link = try DTLSLink()
        for (toServer, datagram) in recorded.sent where toServer { link.server.receive(datagram, now: link.now) }
        var events: [DTLSConnection.Event] = []
        while let event = link.server.pollEvent() { events.append(event) }
        #expect(DTLSLink.keys(events) == nil)
        #expect(link.server.state != .established)
    }

    @Test("a replayed association is counted and not answered")
    func replay() throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        let flights = link.sent.filter(\.toServer).map(\.datagram)
        let sent = link.server.counters.sent
        for _ in 0..<20 {
            for datagram in flights { link.server.receive(datagram, now: link.now) }
        }
        #expect(link.server.pollTransmit() == nil)
        #expect(link.server.pollEvent() == nil)
        #expect(link.server.counters.sent == sent)
        #expect(link.server.counters.replayed == UInt64(20 * flights.count))
        #expect(link.server.state == .established)
    }

    @Test("replays in the middle of a handshake do not disturb it")
    func replayedFlights() throws {
        let link = try DTLSLink(conditions: DTLSLink.Conditions(duplication: 1, delay: 10...40))
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
        #expect(link.server.counters.replayed > 0)
        #expect(link.server.counters.received == link.server.counters.replayed * 2)
    }

    @Test("datagrams that are no DTLS records are refused and counted")
    func malformed() throws {
        let link = try DTLSLink()
        let good = try #require(link.sent.first).datagram
        var bad = [
            ByteBuffer(), ByteBuffer(bytes: [22]), good.getSlice(at: 0, length: 12), good.getSlice(at: 0, length: 13),
            good.getSlice(at: 0, length: good.readableBytes - 1),
            DTLSRecords.record(type: 19, sequence: 1, payload: [1]),
            DTLSRecords.record(type: 24, sequence: 1, payload: [1]),
            DTLSRecords.record(type: 22, version: 0x0303, sequence: 1, payload: [1]),
            DTLSRecords.record(type: 22, sequence: 1, payload: [UInt8](repeating: 0, count: 20_000)),
        ].compactMap(\.self)
        var trailing = good
        trailing.writeBytes([22, 0xFE])
        bad.append(trailing)
        for datagram in bad { link.server.receive(datagram, now: link.now) }
        #expect(link.server.counters.malformed == UInt64(bad.count))
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
    }

    @Test("forged records that claim to be protected are kept in bounded number", arguments: [10, 50])
    func earlyRecords(count: Int) throws {
        let link = try DTLSLink()
        link.run(limit: .milliseconds(15))
        #expect(link.server.state == .handshaking && link.server.counters.received == 1)
        for sequence in 0..<count {
            let record = DTLSRecords.record(
                type: 22, epoch: 1, sequence: 1000 + UInt64(sequence), payload: [UInt8](repeating: 1, count: 60))
            link.server.receive(record, now: link.now)
        }
        #expect(link.server.counters.unexpected == UInt64(max(0, count - 16)))
        link.run(until: \.isEstablished)
        #expect(link.isEstablished == (count < 16))
    }

    @Test("a flood is looked at 100 times a second and no more")
    func flood() throws {
        let link = try DTLSLink()
        let junk = DTLSRecords.record(type: 22, epoch: 3, sequence: 9, payload: [1, 2, 3])
        var now = link.now
        for _ in 0..<10_000 {
            link.server.receive(junk, now: now)
            now += .microseconds(100)
        }
        let lookedAt = link.server.counters.received - link.server.counters.excessive
        #expect((220...240).contains(lookedAt))
        #expect(link.server.pollTransmit() == nil)
    }

    @Test("junk never ends a connection's duties nor makes it answer")
    func junk() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<40 {
            let link = try DTLSLink()
            var now = link.now
            for _ in 0..<120 {
                let count = Int.random(in: 0..<200, using: &generator)
                var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                if Bool.random(using: &generator) {
                    bytes = [22, 0xFE, 0xFD, UInt8.random(in: 1...2, using: &generator)] + bytes
                }
                link.server.receive(ByteBuffer(bytes: bytes), now: now)
                now += .milliseconds(10)
            }
            #expect(link.server.state == .handshaking)
            #expect(link.server.pollTransmit() == nil)
            link.run(until: \.isEstablished)
            #expect(link.isEstablished)
        }
    }

    @Test(
        "changed datagrams make a handshake slower or fail, and never give two sides different keys", arguments: 0..<8)
    func mutation(part: UInt64) throws {
        for seed in (part * 40)..<(part * 40 + 40) {
            var generator = SeededGenerator(seed: seed)
            let link = try DTLSLink(conditions: DTLSLink.Conditions(delay: 5...60), seed: seed)
            let share = seed.isMultiple(of: 2) ? 0.2 : 0.7
            link.tamper = { _, datagram in
                guard Double.random(in: 0..<1, using: &generator) < share else { return datagram }
                return ByteBuffer(bytes: generator.mutate(Array(datagram.readableBytesView)))
            }
            link.run()
            if link.isEstablished {
                #expect(link.clientKeys?.inbound == link.serverKeys?.outbound)
                #expect(link.clientKeys?.outbound == link.serverKeys?.inbound)
            }
            for events in [link.clientEvents, link.serverEvents] { #expect(events.count <= 2) }
            #expect(link.sent.count < 300)
        }
    }
}

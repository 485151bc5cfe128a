import MediaCore
import NIOCore
import SecureTransport
import Testing

@Suite struct DTLSClosingTests {
    @Test("a closed association is closed on the other side as well", arguments: [DTLSRole.client, .server])
    func close(role: DTLSRole) throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        (role == .client ? link.client : link.server).close(now: link.now)
        link.drain()
        link.run()
        #expect((role == .client ? link.serverEvents : link.clientEvents).last == .closed)
        #expect((role == .client ? link.clientEvents : link.serverEvents).count == 1, "the closing side knows")
        #expect(link.client.state == .closed && link.server.state == .closed)
        #expect(link.client.nextDeadline == nil && link.server.nextDeadline == nil)
    }

    @Test("datagrams after the end are counted and discarded")
    func late() throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        link.server.close(now: link.now)
        let first = try #require(link.sent.first).datagram
        for _ in 0..<3 { link.server.receive(first, now: link.now) }
        link.server.advance(now: link.now + .seconds(60))
        link.server.close(now: link.now)
        #expect(link.server.counters.late == 3)
        #expect(link.server.state == .closed)
        #expect(link.server.pollEvent() == nil)
    }

    @Test("a handshake that is closed before its end sends nothing more")
    func closedEarly() throws {
        let link = try DTLSLink()
        link.client.close(now: link.now)
        #expect(link.client.pollTransmit() == nil)
        #expect(link.client.pollEvent() == nil)
        #expect(link.client.state == .closed)
    }

    @Test("a forged close alert is of no effect")
    func forgedAlert() throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        for epoch in UInt16(0)...2 {
            for level in UInt8(1)...2 {
                link.server.receive(
                    DTLSRecords.record(type: 21, epoch: epoch, sequence: 500 + UInt64(level), payload: [level, 0]),
                    now: link.now)
            }
        }
        #expect(link.server.state == .established)
        #expect(link.server.pollEvent() == nil)
    }

    @Test(
        "a forged record of any length does not end the connection, and the real end after it does",
        arguments: ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"])
    func forgedRecords(cipher: String) throws {
        let peer = try BareDTLSPeer(.init(ciphers: cipher))
        let connection = try DTLSConnection(
            role: .server, certificate: DTLSCertificate(), remoteFingerprints: [peer.fingerprint], now: .zero)
        _ = peer.shakeHands(with: connection)
        for length in 0...40 {
            connection.receive(
                DTLSRecords.record(
                    type: 21, epoch: 1, sequence: 500 + UInt64(length), payload: Array(repeating: 1, count: length)),
                now: .zero)
        }
        #expect(connection.state == .established)
        for record in peer.close() { connection.receive(record, now: .zero) }
        #expect(connection.state == .closed)
    }

    @Test("forged protected records do not end a handshake that is under way", arguments: [2, 23, 40])
    func forgedEarly(length: Int) throws {
        let link = try DTLSLink()
        for connection in [link.client, link.server] {
            connection.receive(
                DTLSRecords.record(
                    type: 22, epoch: 1, sequence: 500, payload: Array(repeating: 1, count: length)), now: link.now)
        }
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
    }
}

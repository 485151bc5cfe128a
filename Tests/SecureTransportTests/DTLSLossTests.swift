import MediaCore
import NIOCore
import SecureTransport
import Testing

@Suite struct DTLSLossTests {
    @Test("a handshake survives 30 % loss, repetition and reordering", arguments: 0..<8)
    func badNetwork(part: UInt64) throws {
        for seed in (part * 25)..<(part * 25 + 25) {
            let link = try DTLSLink(conditions: .bad, seed: seed)
            link.run(until: \.isEstablished)
            #expect(link.isEstablished, "seed \(seed)")
            #expect(link.clientKeys?.inbound == link.serverKeys?.outbound, "seed \(seed)")
            #expect(link.clientKeys?.outbound == link.serverKeys?.inbound, "seed \(seed)")
            #expect(link.clientEvents.count == 1 && link.serverEvents.count == 1, "seed \(seed)")
        }
    }

    @Test("a server whose last flight is lost sends it again when the client asks")
    func lastFlight() throws {
        let link = try DTLSLink()
        link.tamper = { toServer, datagram in
            let isLost = !toServer && link.server.state == .established && link.client.counters.timeouts < 3
            return isLost ? nil : datagram
        }
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
        #expect(link.client.counters.timeouts == 3)
        #expect(link.serverEvents.count == 1)
    }

    @Test("flights are cut to the size of a datagram", arguments: [256, 400, 1200])
    func datagramSize(limit: Int) throws {
        let certificate = try #require(DTLSLink.clientCertificate)
        let client = try DTLSConnection(
            role: .client, certificate: certificate, remoteFingerprints: [certificate.fingerprint],
            maximumDatagramSize: limit, now: .zero)
        let server = try DTLSConnection(
            role: .server, certificate: certificate, remoteFingerprints: [certificate.fingerprint],
            maximumDatagramSize: limit, now: .zero)
        var sizes: [Int] = []
        for _ in 0..<4 {
            while let datagram = client.pollTransmit() {
                sizes.append(datagram.readableBytes)
                server.receive(datagram, now: .zero)
            }
            while let datagram = server.pollTransmit() {
                sizes.append(datagram.readableBytes)
                client.receive(datagram, now: .zero)
            }
        }
        #expect(client.state == .established && server.state == .established)
        #expect(try #require(sizes.max()) <= limit)
    }

    @Test("a ClientHello in fragments, as large ones come, is put together in any order", arguments: [false, true])
    func fragments(isReversed: Bool) throws {
        let certificate = try #require(DTLSLink.clientCertificate)
        let client = try DTLSConnection(
            role: .client, certificate: certificate, remoteFingerprints: [certificate.fingerprint], now: .zero)
        let server = try DTLSConnection(
            role: .server, certificate: certificate, remoteFingerprints: [certificate.fingerprint], now: .zero)
        let hello = try #require(client.pollTransmit())
        let fragments = try DTLSRecords.fragments(of: hello, size: 50)
        #expect(fragments.count > 2)
        for fragment in isReversed ? fragments.reversed() : fragments { server.receive(fragment, now: .zero) }
        for _ in 0..<4 {
            while let datagram = server.pollTransmit() { client.receive(datagram, now: .zero) }
            while let datagram = client.pollTransmit() { server.receive(datagram, now: .zero) }
        }
        #expect(client.state == .established && server.state == .established)
    }

    @Test("a receiver of a handshake in the wrong order puts it in order")
    func reversed() throws {
        let certificate = try #require(DTLSLink.clientCertificate)
        let client = try DTLSConnection(
            role: .client, certificate: certificate, remoteFingerprints: [certificate.fingerprint], now: .zero)
        let server = try DTLSConnection(
            role: .server, certificate: certificate, remoteFingerprints: [certificate.fingerprint], now: .zero)
        server.receive(try #require(client.pollTransmit()), now: .zero)
        let flight = DTLSRecords.split(try #require(server.pollTransmit()))
        #expect(flight.count > 3)
        for record in flight.reversed() { client.receive(record, now: .zero) }
        while let datagram = client.pollTransmit() { server.receive(datagram, now: .zero) }
        #expect(server.state == .established)
    }
}

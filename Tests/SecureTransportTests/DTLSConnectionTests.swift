import MediaCore
import NIOCore
import SecureTransport
import Testing

@Suite struct DTLSConnectionTests {
    @Test("both sides have the same keys after two round trips")
    func handshake() throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        let client = try #require(link.clientKeys)
        let server = try #require(link.serverKeys)
        #expect(client.inbound == server.outbound)
        #expect(client.outbound == server.inbound)
        #expect(client.inbound != client.outbound)
        #expect(client.inbound.profile == .aeadAES128GCM)
        #expect(link.now - MonotonicInstant(nanoseconds: 5) == .milliseconds(40))
        #expect(link.client.state == .established && link.server.state == .established)
        #expect(link.client.nextDeadline == nil && link.server.nextDeadline == nil)
        #expect(link.client.counters.refused == 0 && link.server.counters.refused == 0)
    }

    @Test("media that one side protects with the keys can be read by the other")
    func media() throws {
        let link = try DTLSLink()
        link.run(until: \.isEstablished)
        let sender = try SRTPContext(keys: #require(link.clientKeys).outbound, direction: .outbound)
        let receiver = try SRTPContext(keys: #require(link.serverKeys).inbound, direction: .inbound)
        let plain = SRTPFixture.rtp(sequence: 7)
        var packet = plain
        try sender.protect(rtp: &packet)
        try receiver.unprotect(rtp: &packet)
        #expect(packet == plain)
    }

    @Test("each association has keys of its own")
    func freshKeys() throws {
        let keys = try (0..<3).map { _ in
            let link = try DTLSLink()
            link.run(until: \.isEstablished)
            return try #require(link.clientKeys)
        }
        #expect(Set(keys.flatMap { [$0.inbound, $0.outbound] }).count == 6)
    }
}

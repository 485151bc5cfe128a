import MediaCore
import MediaFixtures
import PeerConnection
import SDP
import SecureTransport
import Testing

@testable import Conference

/// A relay that has several addresses.
@Suite struct LocalAddressTests {
    private let first = TransportAddress(ipv4: 0xC000_0201, port: 0)
    private let second = TransportAddress(ipv4: 0xC000_0202, port: 0)

    @Test(
        "Everything leaves from the address to which the client sends, and follows it to another one",
        arguments: [true, false])
    func answers(overDTLS: Bool) throws {
        let call = VirtualCall()
        call.localAddress = first
        let ada = try call.join("Ada", colour: .red, overDTLS: overDTLS)
        let ben = try call.join("Ben", colour: .blue, overDTLS: overDTLS)
        call.run(for: .seconds(1))
        call.paths = []
        call.run(for: .seconds(1))
        let addresses = [ada.address, ben.address]
        #expect(call.paths == Set(addresses.map { NetworkPath(remote: $0, local: first) }))

        call.localAddress = second
        // Clients nominate a path again with each check of consent, which comes after six seconds at most.
        call.run(for: .seconds(7))
        call.paths = []
        let arrived = ada.arrivals.count
        call.run(for: .seconds(1))
        #expect(call.paths == Set(addresses.map { NetworkPath(remote: $0, local: second) }))
        #expect(ada.arrivals.count > arrived)
    }

    @Test("Where nothing can be sent from an address any more, media go by another that the client has checked")
    func addressGone() throws {
        let call = VirtualCall()
        call.localAddress = first
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        call.run(for: .seconds(1))
        call.localAddress = second
        call.run(for: .seconds(7))
        call.act { relay, now in
            relay.sendingFailed(on: NetworkPath(remote: ada.address, local: second), now: now)
        }
        call.paths = []
        call.run(for: .milliseconds(300))
        #expect(call.paths == [NetworkPath(remote: ada.address, local: first)])
    }

    @Test("Answers to joins, further offers and ICE restarts name the addresses that the machine has by then")
    func newAddresses() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", overDTLS: true)
        let addresses = [first.with(port: 7000), second.with(port: 7000)]
        call.act { relay, _ in relay.setMediaAddresses(addresses) }
        #expect(candidates(ada) == [VirtualCall.relayAddress])
        #expect(candidates(try call.join("Ben", overDTLS: true)) == addresses)

        try call.renegotiate(ada) { _ in }
        #expect(candidates(ada) == addresses)
        let fragment = try call.restart(ada, with: call.makeCredentials(), ifMatch: "*")
        #expect(fragment?.candidates.map(\.address) == addresses)
    }

    /// The relay's addresses in the last answer to a client's offer.
    private func candidates(_ client: TestClient) -> [TransportAddress]? {
        client.peer.session.transport?.remoteCandidates.map(\.address)
    }
}

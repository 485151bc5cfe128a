import NIOCore
import SecureTransport
import Testing

@testable import RelayServer

@Suite("Socket addresses and transport addresses")
struct TransportAddressConversionTests {
    @Test(
        "literals survive the way to a socket address and back",
        arguments: ["127.0.0.1", "203.0.113.255", "::1", "2001:db8::17"])
    func roundTrip(host: String) throws {
        let address = try #require(TransportAddress(host: host, port: 40_001))
        #expect(TransportAddress(SocketAddress(address)) == address)
        #expect(TransportAddress(try SocketAddress(ipAddress: host, port: 40_001)) == address)
        #expect(SocketAddress(address).ipAddress == host)
        #expect(SocketAddress(address).port == 40_001)
    }

    @Test("an IPv4 peer of a dual-stack socket is an IPv4 address")
    func mapped() throws {
        let mapped = try SocketAddress(ipAddress: "::ffff:192.0.2.1", port: 5)
        #expect(TransportAddress(mapped) == TransportAddress(ipv4: 0xC000_0201, port: 5))
    }

    @Test("an IPv4 address is mapped for an IPv6 socket")
    func mapping() {
        let address = TransportAddress(ipv4: 0xC000_0201, port: 5)
        #expect(SocketAddress(address.socketAddressIPv6).ipAddress == "::ffff:192.0.2.1")
    }

    @Test("a Unix socket has no transport address")
    func unixSocket() throws {
        #expect(TransportAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }
}

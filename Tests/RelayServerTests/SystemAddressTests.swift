import NIOCore
import SecureTransport
import Testing

@testable import RelayServer
@testable import RoomMedia

@Suite("Addresses of the system and transport addresses")
struct SystemAddressTests {
    @Test(
        "literals survive the way to a system address and back",
        arguments: ["127.0.0.1", "203.0.113.255", "::1", "2001:db8::17"], [false, true])
    func roundTrip(host: String, isIPv6Socket: Bool) throws {
        let address = try #require(TransportAddress(host: host, port: 40_001))
        #expect(TransportAddress(try SocketAddress(ipAddress: host, port: 40_001)) == address)
        let system = SystemAddress(address, isIPv6Socket: isIPv6Socket)
        guard isIPv6Socket || !address.isIPv6 else {
            #expect(system == nil)
            return
        }
        #expect(try #require(system).withUnsafeBytes { TransportAddress(systemAddress: $0) } == address)
    }

    @Test("an IPv4 peer of a dual-stack socket is an IPv4 address")
    func mapped() throws {
        let mapped = try SocketAddress(ipAddress: "::ffff:192.0.2.1", port: 5)
        #expect(TransportAddress(mapped) == TransportAddress(ipv4: 0xC000_0201, port: 5))
    }

    @Test("an IPv4 address is mapped for an IPv6 socket, byte for byte as the system does it")
    func mapping() throws {
        let address = TransportAddress(ipv4: 0xC000_0201, port: 5)
        let system = try #require(SystemAddress(address, isIPv6Socket: true))
        let expected = try SocketAddress(ipAddress: "::ffff:192.0.2.1", port: 5).withSockAddr { pointer, size in
            Array(UnsafeRawBufferPointer(start: pointer, count: size))
        }
        #expect(system.withUnsafeBytes { Array($0) } == expected)
    }

    @Test("a Unix socket has no transport address")
    func unixSocket() throws {
        #expect(TransportAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }
}

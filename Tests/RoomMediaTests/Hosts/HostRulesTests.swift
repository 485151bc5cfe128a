import SecureTransport
import Testing

@testable import RoomMedia

/// Where outputs may go.
@Suite struct HostRulesTests {
    private func permits(_ rules: String, _ address: String, of host: String, own: String? = nil) throws -> Bool {
        let address = try #require(TransportAddress(host: address, port: 1935))
        return try HostRules(parsing: rules).permits(address, ofHost: host) { $0.host == own }
    }

    @Test("a listed name is permitted at public addresses, and at no others, whatever its servers say")
    func names() throws {
        #expect(try permits("live.example.org", "8.8.8.8", of: "live.example.org"))
        #expect(try permits("Live.Example.org", "2600::1", of: "live.example.org."))
        #expect(try !permits("live.example.org", "8.8.8.8", of: "other.example.org"))
        #expect(try !permits("live.example.org", "10.0.0.1", of: "live.example.org"))
        #expect(try permits("*.example.org", "8.8.8.8", of: "a.b.example.org"))
        #expect(try !permits("*.example.org", "8.8.8.8", of: "example.org"))
        #expect(try !permits("*.example.org", "8.8.8.8", of: "evilexample.org"))
        #expect(try permits("*", "8.8.8.8", of: "anything"))
        #expect(try !permits("*", "8.8.8.8", of: "anything", own: "8.8.8.8"))
    }

    @Test("a listed network is permitted, also by a name, and also where it is private or the relay's own")
    func networks() throws {
        #expect(try permits("10.0.0.0/8", "10.200.0.1", of: "ingest.internal"))
        #expect(try !permits("10.0.0.0/8", "11.0.0.1", of: "11.0.0.1"))
        #expect(try permits("*,192.168.1.7", "192.168.1.7", of: "x", own: "192.168.1.7"))
        #expect(try !permits("*,192.168.1.7", "192.168.1.8", of: "x"))
        #expect(try permits("127.0.0.1", "::ffff:127.0.0.1", of: "localhost"))
        #expect(try permits("::ffff:10.0.0.0/104", "10.0.0.1", of: "x"))
        #expect(try !permits("::ffff:10.0.0.0/104", "11.0.0.1", of: "x"))
        #expect(try permits("[2001:db8::1]", "2001:db8::1", of: "x"))
        #expect(try permits("2001:db8::/33", "2001:db8:7fff::1", of: "x"))
        #expect(try !permits("2001:db8::/33", "2001:db8:8000::1", of: "x"))
        #expect(try permits("fd00::/8", "fd12::1", of: "x"))
        #expect(try permits("2001:db8::100/120", "2001:db8::1ff", of: "x"))
        #expect(try !permits("2001:db8::100/120", "2001:db8::200", of: "x"))
        #expect(try permits("0.0.0.0/0", "127.0.0.1", of: "x"))
        #expect(try !permits("0.0.0.0/0", "::1", of: "x"))
    }

    @Test(
        "special addresses are not public",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.0.1", "198.18.0.1",
            "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
            "::ffff:10.0.0.1", "::10.0.0.1", "64:ff9b::a00:1", "100::1", "2001::1", "2001:db8::1", "2002:a00:1::1",
            "3fff::1", "fc00::1", "fd00::1", "fe80::1", "ff02::1",
        ])
    func special(_ address: String) throws {
        #expect(try !permits("*", address, of: "x"))
    }

    @Test(
        "other addresses are public",
        arguments: [
            "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.0.1", "198.17.0.1",
            "223.255.255.255", "2600::1", "2a00:1450::1", "2001:4860::1", "::ffff:8.8.8.8",
        ])
    func open(_ address: String) throws {
        #expect(try permits("*", address, of: "x"))
    }

    @Test("a host that cannot be permitted is refused before it is looked up")
    func early() throws {
        let names = try HostRules(parsing: "live.example.org")
        #expect(names.mayPermit(host: "live.example.org") && !names.mayPermit(host: "example.org"))
        #expect(!names.mayPermit(host: "8.8.8.8"))
        let all = try HostRules(parsing: "*")
        #expect(all.mayPermit(host: "8.8.8.8") && all.mayPermit(host: "example.org"))
        for host in ["127.0.0.1", "::1", "localhost", "a.localhost", "10.0.0.1"] {
            #expect(!all.mayPermit(host: host), "\(host)")
        }
        let network = try HostRules(parsing: "10.0.0.0/8")
        #expect(network.mayPermit(host: "10.0.0.1") && network.mayPermit(host: "ingest.internal"))
        #expect(!network.mayPermit(host: "11.0.0.1") && !network.mayPermit(host: "localhost"))
    }

    @Test(
        "a text that is no list is refused",
        arguments: ["", "a,,b", "rtmp://example.org", "10.0.0.0/33", "10.0.0.0/-1", "a b", "*.*", "example.*", "ex/24"])
    func mistakes(_ text: String) {
        #expect(throws: HostRules.ParseError.self) { try HostRules(parsing: text) }
    }
}

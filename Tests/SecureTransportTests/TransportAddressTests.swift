import SecureTransport
import Testing

@Suite struct TransportAddressTests {
    @Test("an IPv4 literal is read and written back", arguments: ["0.0.0.0", "127.0.0.1", "192.0.2.255"])
    func ipv4RoundTrip(text: String) throws {
        let address = try #require(TransportAddress(host: text, port: 7000))
        #expect(!address.isIPv6)
        #expect(address.host == text)
        #expect(address.description == "\(text):7000")
    }

    @Test(
        "an IPv6 literal is written in the canonical form of RFC 5952",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            ("fe80::", "fe80::"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("0:0:1::", "0:0:1::"),
        ])
    func ipv6Canonical(text: String, canonical: String) throws {
        let address = try #require(TransportAddress(host: text, port: 9))
        #expect(address.isIPv6)
        #expect(address.host == canonical)
        #expect(TransportAddress(host: canonical, port: 9) == address)
    }

    @Test(
        "text that is no address literal is refused",
        arguments: [
            "", "localhost", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.04", "1..2.3", "-1.2.3.4", ":", ":::", "1::2::3",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "g::", "::1.2.3", "1.2.3.4::",
            "fe80::1%eth0", "[::1]", " 1.2.3.4", String(repeating: "1:", count: 40),
        ])
    func refusesOthers(text: String) {
        #expect(TransportAddress(host: text, port: 1) == nil)
    }

    @Test("loopback and unspecified addresses are recognised, mapped ones too")
    func kinds() throws {
        for text in ["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"] {
            #expect(try #require(TransportAddress(host: text, port: 1)).isLoopback, "\(text)")
        }
        for text in ["0.0.0.0", "::", "::ffff:0.0.0.0"] {
            let address = try #require(TransportAddress(host: text, port: 1))
            #expect(address.isUnspecified && !address.isLoopback, "\(text)")
        }
        #expect(try #require(TransportAddress(host: "128.0.0.1", port: 1)).isLoopback == false)
    }

    @Test("an IPv4-mapped address unmaps to its IPv4 address and port")
    func unmapping() throws {
        let mapped = try #require(TransportAddress(host: "::ffff:198.51.100.7", port: 4000))
        #expect(mapped.unmapped == TransportAddress(ipv4: 0xC633_6407, port: 4000))
        let plain = TransportAddress(ipv6: (0x2001_0db8_0000_0000, 7), port: 4000)
        #expect(plain.unmapped == plain)
    }

    @Test("addresses differ by host, port, family and scope")
    func identity() {
        let base = TransportAddress(ipv4: 1, port: 2)
        #expect(base != TransportAddress(ipv4: 1, port: 3))
        #expect(base != TransportAddress(ipv4: 2, port: 2))
        #expect(base != TransportAddress(ipv6: (0, 1), port: 2))
        #expect(
            TransportAddress(ipv6: (1, 1), port: 2, scopeID: 1) != TransportAddress(ipv6: (1, 1), port: 2, scopeID: 2))
        #expect(base.with(port: 3) == TransportAddress(ipv4: 1, port: 3))
    }
}

import SecureTransport
import Testing

@Suite struct HandshakeGateTests {
    /// The sessions with these hosts, numbered from zero, that the gate admits.
    private static func admitted(_ hosts: [String], by gate: inout HandshakeGate<Int>) throws -> [Int] {
        try hosts.enumerated().compactMap { index, host in
            let address = try #require(TransportAddress(host: host, port: UInt16(1000 + index)))
            return gate.admit(index, from: address) ? index : nil
        }
    }

    @Test("one host can begin a limited number of handshakes, with any ports")
    func perHost() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 3, maximumCount: 100)
        let hosts = [String](repeating: "192.0.2.1", count: 10) + ["192.0.2.2"]
        #expect(try Self.admitted(hosts, by: &gate) == [0, 1, 2, 10])
        #expect(gate.refusedCount == 7)
    }

    @Test("a session in the middle of its handshake is admitted again, and counts once")
    func again() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 1, maximumCount: 1)
        for _ in 0..<3 { #expect(try Self.admitted(["192.0.2.1"], by: &gate) == [0]) }
        #expect(gate.count == 1)
    }

    @Test("a handshake that ended makes room for another")
    func release() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 1, maximumCount: 1)
        let hosts = ["192.0.2.1", "192.0.2.1"]
        #expect(try Self.admitted(hosts, by: &gate) == [0])
        gate.release(0)
        gate.release(0)
        #expect(gate.count == 0)
        #expect(try Self.admitted(hosts, by: &gate) == [0])
    }

    @Test("all hosts together are bounded")
    func inAll() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 2, maximumCount: 5)
        #expect(try Self.admitted((0..<100).map { "10.0.0.\($0)" }, by: &gate) == [0, 1, 2, 3, 4])
        for session in 0..<100 { gate.release(session) }
        #expect(gate.count == 0)
    }

    @Test("the addresses of one IPv6 network, and both forms of an IPv4 address, are one host")
    func networks() throws {
        var gate = HandshakeGate<Int>(maximumCountPerHost: 1, maximumCount: 100)
        let hosts = [
            "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1", "192.0.2.1", "::ffff:192.0.2.1",
        ]
        #expect(try Self.admitted(hosts, by: &gate) == [0, 2, 3])
    }
}

import MediaCore
import RoomMedia
import SecureTransport
import Testing

@testable import RelayServer

@Suite("Admission of connections")
struct ConnectionAdmissionTests {
    private func client(_ host: String) throws -> TransportAddress {
        try #require(TransportAddress(host: host, port: 1))
    }

    /// Opens connections until one is not served; returns how many were.
    private func fill(_ admission: inout ConnectionAdmission, from client: TransportAddress) -> Int {
        var count = 0
        while admission.open(from: client) == .served { count += 1 }
        return count
    }

    @Test("one client gets half of the connections, the next one half of the rest")
    func shares() throws {
        var admission = ConnectionAdmission(maximum: 512, reserve: 8)
        #expect(fill(&admission, from: try client("192.0.2.1")) == 256)
        #expect(fill(&admission, from: try client("192.0.2.2")) == 128)
        #expect(fill(&admission, from: try client("192.0.2.3")) == 64)
        #expect(admission.open(from: try client("192.0.2.4")) == .served)
    }

    @Test("addresses of one IPv6 network share one share, and IPv4 addresses mapped into IPv6 are IPv4 addresses")
    func networks() throws {
        var admission = ConnectionAdmission(maximum: 16, reserve: 0)
        #expect(fill(&admission, from: try client("2001:db8::1")) == 8)
        #expect(admission.open(from: try client("2001:db8::2:1")) == .refused)
        #expect(admission.open(from: try client("2001:db8:0:1::1")) == .served)
        #expect(fill(&admission, from: try client("192.0.2.1")) == 4)
        #expect(admission.open(from: try client("::ffff:192.0.2.1")) == .refused)
    }

    @Test("connections beyond a client's share are reserved ones, of which it gets half too")
    func reserve() throws {
        var admission = ConnectionAdmission(maximum: 16, reserve: 8)
        let greedy = try client("192.0.2.1")
        let decisions = (0..<20).map { _ in admission.open(from: greedy) }
        #expect(decisions.count { $0 == .served } == 8)
        #expect(decisions.count { $0 == .reserved } == 4)
        #expect(decisions.count { $0 == .refused } == 8)
        #expect(admission.refusedCount == 12)
    }

    @Test("a trusted proxy gets all connections")
    func trustedProxy() throws {
        let proxies = try #require(NetworkPrefix(parsing: "10.1.0.0/16"))
        for (host, count) in [("10.1.2.3", 16), ("::ffff:10.1.2.3", 16), ("10.2.0.1", 8)] {
            var admission = ConnectionAdmission(maximum: 16, reserve: 2, trustedProxies: [proxies])
            #expect(fill(&admission, from: try client(host)) == count)
        }
    }

    @Test("closed connections give all their places back", arguments: 1...20)
    func balance(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var admission = ConnectionAdmission(maximum: 32, reserve: 8)
        let clients = try (1...5).map { try client("192.0.2.\($0)") }
        var open: [(TransportAddress, ConnectionAdmission.Decision)] = []
        for _ in 0..<2000 {
            if Bool.random(using: &generator), !open.isEmpty {
                let (client, decision) = open.remove(at: Int.random(in: 0..<open.count, using: &generator))
                admission.close(from: client, as: decision)
            } else {
                let client = clients[Int.random(in: 0..<5, using: &generator)]
                open.append((client, admission.open(from: client)))
            }
            #expect(admission.servedCount == open.count { $0.1 == .served })
            #expect(admission.servedCount <= 32 && open.count { $0.1 == .reserved } <= 8)
        }
        for (client, decision) in open { admission.close(from: client, as: decision) }
        #expect(admission.servedCount == 0)
        #expect(fill(&admission, from: clients[0]) == 16)
    }
}

import HostileBytes
import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct ICECandidateTests {
    @Test("a browser's host candidate is read, extensions passed over")
    func host() throws {
        let text =
            "candidate:1467250027 1 udp 2122260223 192.168.0.196 46243 typ host generation 0 ufrag EsAw network-id 1"
        let candidate = try #require(try ICECandidate.parse(text))
        #expect(candidate.foundation == "1467250027")
        #expect(candidate.component == 1 && candidate.priority == 2_122_260_223 && candidate.kind == .host)
        #expect(candidate.address == TransportAddress(host: "192.168.0.196", port: 46_243))
    }

    @Test("related addresses are tolerated, and IPv6, and upper case of the transport")
    func reflexive() throws {
        let candidate = try #require(
            try ICECandidate.parse("4 2 UDP 1677729535 2001:db8::7 1024 typ srflx raddr 10.0.1.1 rport 8998"))
        #expect(candidate.kind == .serverReflexive && candidate.component == 2)
        #expect(candidate.address.description == "[2001:db8::7]:1024")
    }

    @Test(
        "useless candidates are ignored",
        arguments: [
            "1 1 udp 2113937151 2a0b6e3f-0c5e-4a6c-9b52-aabbccddeeff.local 50123 typ host",
            "1 1 tcp 1518280447 192.168.0.196 9 typ host tcptype active",
            "1 1 udp 5 192.168.0.196 9000 typ quic",
            "1 1 udp 5 192.168.0.196 0 typ host",
            "1 1 udp 5 fe80::1%eth0 5000 typ host",
        ])
    func skipped(text: String) throws {
        #expect(try ICECandidate.parse(text) == nil)
    }

    @Test(
        "a malformed candidate is an error",
        arguments: [
            "", "candidate:", "1 1 udp 5 192.0.2.1 9000 host typ", "1 1 udp 5 192.0.2.1 9000 typ",
            "1 0 udp 5 192.0.2.1 9000 typ host", "1 257 udp 5 192.0.2.1 9000 typ host",
            "1 1 udp 99999999999 192.0.2.1 9000 typ host", "1 1 udp 5 192.0.2.1 70000 typ host",
            "ä 1 udp 5 192.0.2.1 9000 typ host", "123456789012345678901234567890123 1 udp 5 192.0.2.1 9 typ host",
            "1 1 udp 5 192.0.2.1 9000 typ host " + String(repeating: "x", count: 500),
        ])
    func malformed(text: String) {
        #expect(throws: ICECandidateError.self) { try ICECandidate.parse(text) }
    }

    @Test("host candidates have the RFC's priorities, the first address the highest, and read back")
    func hostCandidates() throws {
        let addresses = try ["192.0.2.1", "2001:db8::1", "::ffff:198.51.100.1"].map {
            try #require(TransportAddress(host: $0, port: 7_000))
        }
        let candidates = ICECandidate.hostCandidates(addresses)
        #expect(candidates[0].sdpValue == "1 1 udp 2130706431 192.0.2.1 7000 typ host")
        #expect(candidates[1].sdpValue == "2 1 udp 2130706175 2001:db8::1 7000 typ host")
        #expect(candidates[2].address.host == "198.51.100.1")
        for candidate in candidates { #expect(try ICECandidate.parse(candidate.sdpValue) == candidate) }
        var reflexive = candidates[1]
        reflexive.kind = .serverReflexive
        #expect(try ICECandidate.parse(reflexive.sdpValue) == reflexive)
    }

    @Test("changed candidates are read or refused, never a trap")
    func mutations() {
        var generator = SeededGenerator(seed: 8_839)
        let sample = Array("candidate:1467250027 1 udp 2122260223 192.168.0.196 46243 typ host generation 0".utf8)
        var read = 0
        for _ in 0..<10_000 {
            let text = String(decoding: generator.mutate(sample), as: UTF8.self)
            guard let candidate = try? ICECandidate.parse(text) else { continue }
            read += 1
            #expect((try? ICECandidate.parse(candidate.sdpValue)) == candidate)
        }
        #expect(read > 500 && read < 9_500)
    }
}

import HostileBytes
import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct TrickleICEFragmentTests {
    /// As in RFC 9725, section 4.3.2, and as Chromium's candidates are.
    static let trickle = """
        a=group:BUNDLE 0 1\r
        a=ice-ufrag:EsAw\r
        a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
        m=audio 9 UDP/TLS/RTP/SAVPF 111\r
        a=mid:0\r
        a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag EsAw network-id 1\r
        a=candidate:3471623853 1 udp 2122194687 198.51.100.2 61765 typ host generation 0 ufrag EsAw network-id 2\r
        a=candidate:473322822 1 tcp 1518280447 192.0.2.1 9 typ host tcptype active generation 0 ufrag EsAw\r
        a=end-of-candidates\r

        """

    @Test("a fragment in WHIP's form is read")
    func read() throws {
        let fragment = try TrickleICEFragment(parsing: Self.trickle)
        #expect(fragment.credentials?.usernameFragment == "EsAw")
        #expect(fragment.credentials?.password == "P2uYro0UCOQ4zxjKXaWCBui1")
        #expect(fragment.bundle == ["0", "1"])
        #expect(!fragment.isComplete && !fragment.isLite)
        #expect(fragment.media.map(\.mid) == ["0"] && fragment.media.first?.isComplete == true)
        #expect(fragment.candidates.map(\.address.host) == ["192.0.2.1", "198.51.100.2"])
    }

    @Test("the answer to a restart reads back")
    func roundTrip() throws {
        let address = try #require(TransportAddress(host: "2001:db8::1", port: 7_000))
        let fragment = TrickleICEFragment(
            credentials: ICECredentials(usernameFragment: "relay123", password: "relaypasswordrelaypass01"),
            isLite: true, options: ["trickle", "ice2"], bundle: ["a", "v"],
            media: [
                .init(kind: .audio, mid: "a", candidates: ICECandidate.hostCandidates([address]), isComplete: true),
                .init(kind: .video, mid: "v"),
            ])
        #expect(try TrickleICEFragment(parsing: fragment.encode()) == fragment)
        #expect(fragment.encode().hasPrefix("a=ice-lite\r\na=group:BUNDLE a v\r\na=ice-options:trickle ice2\r\n"))
    }

    @Test("a fragment can consist of an end only, of credentials only, or be empty")
    func short() throws {
        #expect(try TrickleICEFragment(parsing: "a=end-of-candidates").isComplete)
        #expect(try TrickleICEFragment(parsing: "") == TrickleICEFragment())
        let credentials = "a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\na=ice-ufrag:EsAw\n"
        #expect(try TrickleICEFragment(parsing: credentials).credentials?.usernameFragment == "EsAw")
    }

    @Test("a candidate that cannot be read is ignored, and those beside it are taken")
    func unreadableCandidate() throws {
        let text =
            "m=audio 9 RTP/AVP 0\na=mid:0\na=candidate:1 1 udp\n"
            + "a=candidate:2 1 udp 5 192.0.2.1 9000 typ host\na=candidate:3 1 udp 5 192.0.2.2 99999 typ host\n"
        #expect(try TrickleICEFragment(parsing: text).candidates.map(\.address.host) == ["192.0.2.1"])
    }

    @Test("credentials below a media description are those of the whole")
    func credentialsOfMedia() throws {
        let text =
            "m=audio 9 RTP/AVP 0\na=mid:0\na=ice-ufrag:EsAw\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\n"
            + "m=video 9 RTP/AVP 0\na=mid:1\na=ice-ufrag:XXXX\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui2\n"
        #expect(try TrickleICEFragment(parsing: text).credentials?.usernameFragment == "EsAw")
    }

    @Test(
        "mistakes are named with their lines",
        arguments: [
            ("a=ice-ufrag:EsAw\n", 1), ("a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\n", 1),
            ("a=ice-ufrag:EsA\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\n", 1),
            ("a=ice-ufrag:EsAw\na=ice-pwd:short\n", 2), ("m=audio 9 RTP/AVP 0\n", 1),
            ("m=audio\n", 1), ("hello\n", 1),
            ("m=audio 9 RTP/AVP 0\na=mid:0 1\n", 2),
            (String(repeating: "a=x\n", count: 5_000), 1),
            (
                "m=audio 9 RTP/AVP 0\na=mid:0\n"
                    + String(repeating: "a=candidate:1 1 udp 5 192.0.2.1 9000 typ host\n", count: 129), 131
            ),
        ])
    func errors(text: String, line: Int) {
        let error = #expect(throws: SDPError.self) { try TrickleICEFragment(parsing: text) }
        #expect(error?.line == line)
    }

    @Test("changed fragments are read or refused, never a trap")
    func mutations() {
        var generator = SeededGenerator(seed: 8_840)
        let sample = Array(Self.trickle.utf8)
        var read = 0
        for _ in 0..<3_000 {
            let text = String(decoding: generator.mutate(sample), as: UTF8.self)
            guard let fragment = try? TrickleICEFragment(parsing: text) else { continue }
            read += 1
            #expect((try? TrickleICEFragment(parsing: fragment.encode())) == fragment)
        }
        #expect(read > 300 && read < 2_950)
    }
}

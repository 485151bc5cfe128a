import Testing

@testable import RelayServer

@Suite("STUN and TURN servers as options name them")
struct ICEServerTests {
    @Test(
        "STUN servers are taken as they are",
        arguments: [
            "stun:stun.example.org", "stuns:stun.example.org:5349", "stun:192.0.2.1:3478", "stun:[2001:db8::1]:3478",
        ])
    func stun(text: String) throws {
        let server = try ICEServer(parsing: text)
        #expect(server.uri == text)
        #expect(server.credentials == nil)
        #expect(server.link == "<\(text)>; rel=\"ice-server\"")
    }

    @Test("a TURN server's name and password are taken out of its URI")
    func turn() throws {
        let server = try ICEServer(
            parsing: "turns:turn.example.org:443?username=ada&transport=tcp&credential=a%26b%20c")
        #expect(server.uri == "turns:turn.example.org:443?transport=tcp")
        #expect(server.credentials == .init(username: "ada", password: "a&b c"))
    }

    @Test("a file has one server a line, and comments")
    func list() throws {
        let text = "# ours\r\nstun:a.example\n\n  turn:b.example?username=ada&credential=secret \n"
        let servers = try ICEServer.list(parsing: text)
        #expect(servers.map(\.uri) == ["stun:a.example", "turn:b.example"])
        #expect(servers.last?.credentials?.password == "secret")
    }

    @Test("a mistake in a file is reported with its line, and without the secret")
    func mistakeInList() {
        #expect {
            try ICEServer.list(parsing: "stun:a.example\nturn:b.example?credential=secret\n")
        } throws: { error in
            let text = "\(error)"
            return text.contains("line 2") && !text.contains("secret")
        }
    }

    @Test(
        "texts that name no server are refused",
        arguments: [
            "", "stun", "stun:", "http://example.org", "stun:example.org:0", "stun:example.org:70000", "stun:a b",
            "stun:a>b", "turn:example.org?username=a", "turn:example.org?credential=a",
            "turn:example.org?username=a&credential=", "turn:example.org?username=a&credential=%0D%0AX:1",
            "turn:example.org?username=a&credential=b&transport=sctp", "turn:example.org?username=a&credential=%zz",
            "turn:example.org?username=ä&credential=b", "stun:example.org?transport=udp",
            "stun:example.org?username=a&credential=b", "turn:example.org?", "stun:2001:db8::1",
        ])
    func refused(text: String) {
        #expect(throws: ICEServer.ParseError.self) { try ICEServer(parsing: text) }
    }
}

import Testing

@testable import ConferenceClient

@Suite("Room addresses")
struct RoomURLTests {
    @Test("host, port and room are read")
    func parts() throws {
        let url = try RoomURL("http://127.0.0.1:7000/rooms/demo")
        #expect(url.host == "127.0.0.1")
        #expect(url.port == 7000)
        #expect(url.room == "demo")
        #expect(url.description == "http://127.0.0.1:7000/rooms/demo")
        #expect(try RoomURL("http://relay.example/rooms/a").port == 80)
    }

    @Test("an address by HTTPS has a port of its own by default")
    func https() throws {
        let url = try RoomURL("https://relay.example/rooms/demo")
        #expect(url.port == 443)
        #expect(url.description == "https://relay.example:443/rooms/demo")
    }

    @Test("an IPv6 address is written in brackets")
    func ipv6() throws {
        let url = try RoomURL("http://[::1]:7000/rooms/demo")
        #expect(url.host == "::1")
        #expect(url.authority == "[::1]:7000")
    }

    @Test("a name is percent-encoded")
    func names() throws {
        let url = try RoomURL("http://127.0.0.1:7000/rooms/demo")
        #expect(
            url.joinPath(name: "Ada & Zoë", selfView: true)
                == "/rooms/demo/participants?name=Ada%20%26%20Zo%C3%AB&self-view=always")
        #expect(url.joinPath(name: "Ben", selfView: nil) == "/rooms/demo/participants?name=Ben")
    }

    @Test("a redirect within the room is followed with the token, and no other")
    func redirects() throws {
        let url = try RoomURL("http://127.0.0.1:7000/rooms/demo#token=abc")
        let next = try #require(url.redirected(to: "http://[::1]:7001/rooms/demo/participants/a1?may-return=true"))
        #expect(next.url.authority == "[::1]:7001" && next.url.path == url.path && next.url.token == "abc")
        #expect(next.path == "/rooms/demo/participants/a1?may-return=true")
        #expect(url.redirected(to: "http://10.0.0.2/rooms/demo")?.path == "/rooms/demo")
        for text in ["", "/rooms/demo", "ftp://10.0.0.2/rooms/demo", "http://10.0.0.2/rooms/demolition"] {
            #expect(url.redirected(to: text) == nil)
        }
    }

    @Test("a client that came by HTTPS is not sent on by HTTP, which would show its token")
    func downgrade() throws {
        let (open, safe) = ("http://10.0.0.2/rooms/demo/participants", "https://10.0.0.2/rooms/demo/participants")
        let url = try RoomURL("https://127.0.0.1:7000/rooms/demo#token=abc")
        #expect(url.redirected(to: open) == nil && url.relocated(to: open) == nil)
        #expect(url.redirected(to: safe) != nil && url.relocated(to: safe)?.token == "abc")
        #expect(try RoomURL("http://127.0.0.1:7000/rooms/demo").relocated(to: safe)?.port == 443)
    }

    @Test(
        "a URL without a room is refused",
        arguments: [
            "", "demo", "ftp://127.0.0.1/rooms/demo", "http://127.0.0.1:7000", "http://127.0.0.1:7000/rooms/",
            "http://127.0.0.1:7000/rooms/a/b", "http://127.0.0.1:99999/rooms/a", "http:///rooms/a",
        ])
    func refusals(text: String) {
        let error = #expect(throws: ClientError.self) { try RoomURL(text) }
        #expect(error?.exitCode == 64)
    }

    @Test("a port that there is not is named as the mistake")
    func noSuchPort() {
        let error = #expect(throws: ClientError.self) { try RoomURL("http://127.0.0.1:99999/rooms/demo") }
        #expect(error == .usage(reason: "the port in 'http://127.0.0.1:99999/rooms/demo' is not 1 to 65535"))
    }
}

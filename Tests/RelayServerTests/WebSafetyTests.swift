import HTTPTypes
import MediaCore
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Pages of other sites")
struct WebSafetyTests {
    private let client = SignallingClient()
    private static let keys = "v=0\r\nm=audio 9 RTP/SAVP 96\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n"

    /// A request of the interface, as a page could send it.
    struct Call: Sendable, CustomTestStringConvertible {
        var method: HTTPRequest.Method
        var path: String
        var type: String?
        var body = ""

        var testDescription: String { "\(method) \(path)" }
    }

    private static let calls = [
        Call(method: .get, path: "/rooms"), Call(method: .get, path: "/rooms/demo"),
        Call(method: .get, path: "/rooms/demo/events"), Call(method: .get, path: "/rooms/demo/debug"),
        Call(method: .get, path: "/rooms/demo/debug.svg"), Call(method: .get, path: "/rooms/demo/debug.json"),
        Call(method: .get, path: "/metrics"), Call(method: .get, path: "/rooms/demo/participants/p1"),
        Call(method: .put, path: "/rooms/demo/overlays", type: "application/json", body: "[]"),
        Call(
            method: .put, path: "/rooms/demo/layout", type: "application/json",
            body: #"{"layout":"grid","hide":["p1"]}"#),
        Call(method: .put, path: "/rooms/demo/participants/p1/layout", type: "application/json", body: "{}"),
        Call(method: .delete, path: "/rooms/demo/participants/p1/layout"),
        Call(method: .post, path: "/whep/demo", type: "application/sdp", body: keys),
        Call(method: .post, path: "/whip/demo", type: "application/sdp", body: "v=0\r\n"),
        Call(method: .post, path: "/rooms/demo/participants", type: "application/sdp", body: "v=0\r\n"),
        Call(method: .options, path: "/whep/demo"),
    ]

    private func send(
        _ call: Call, _ headers: HTTPFields, with client: SignallingClient? = nil
    ) async throws -> SignallingClient.Answer {
        let client = client ?? self.client
        client.script.state.withLock {
            $0.snapshot.rooms = [RoomSnapshot(id: "demo", participants: [.init(id: "p1", name: "Ada", role: "watch")])]
        }
        var headers = headers
        headers[.contentType] = call.type
        return try await client.send(call.method, call.path, headers: headers, body: call.body)
    }

    @Test("are let in without an origin only by a relay that has checked it")
    func checkedElsewhere() throws {
        let policy = SitePolicy()
        var request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:7000", path: "/whep/demo")
        request.headerFields[.origin] = "null"
        #expect(throws: Problem.self) { try policy.check(request) }
        let site = try policy.check(request, isSentOn: true)
        #expect(site == .checkedElsewhere && site.readingOrigin == "null")
        request.headerFields[.origin] = "https://evil.example"
        #expect(throws: Problem.self) { try policy.check(request, isSentOn: true) }
    }

    @Test("get nothing and change nothing", arguments: calls)
    func foreignOrigin(call: Call) async throws {
        for origin in ["https://evil.example", "http://relay.evil.example", "null", "http://relay:8080", "garbage"] {
            let answer = try await send(call, [.origin: origin])
            #expect(answer.status == .forbidden, "\(origin)")
            #expect(answer.detail.contains("--allow-origin"))
            #expect(answer.headers[.accessControlAllowOrigin] == nil)
            #expect(!answer.body.contains("Ada"))
        }
        client.script.state.withLock { state in
            #expect(state.requests.isEmpty && state.overlays.isEmpty && state.roomLayouts.isEmpty)
            #expect(state.participantLayouts.isEmpty && state.snapshotCount == 0 && state.timelineCount == 0)
        }
    }

    @Test("cannot embed what needs no CORS, and cannot point a name of theirs at the relay", arguments: calls)
    func withoutOrigin(call: Call) async throws {
        for site in ["cross-site", "same-site"] {
            let answer = try await send(call, [.secFetchSite: site, .secFetchMode: "no-cors", .secFetchDest: "image"])
            #expect(answer.status == .forbidden)
        }
        var client = client
        client.authority = "rebound.evil.example:7000"
        for headers in [[:], [.origin: "http://rebound.evil.example:7000"]] as [HTTPFields] {
            let answer = try await send(call, headers, with: client)
            #expect(answer.status == .misdirectedRequest)
            #expect(answer.detail.contains("--allow-origin"))
        }
        #expect(client.script.state.withLock { $0.requests.isEmpty && $0.snapshotCount == 0 })
    }

    @Test("the relay's own page, curl and links from elsewhere get everything", arguments: calls)
    func ownPage(call: Call) async throws {
        let own: [HTTPFields] = [
            [:], [.origin: "http://relay"], [.secFetchSite: "same-origin"], [.secFetchSite: "none"],
        ]
        for headers in own {
            let answer = try await send(call, headers)
            #expect(answer.status != .forbidden && answer.status != .misdirectedRequest, "\(headers)")
        }
        guard call.method == .get else { return }
        let link: HTTPFields = [.secFetchSite: "cross-site", .secFetchMode: "navigate", .secFetchDest: "document"]
        #expect(try await send(call, link).status != .forbidden)
    }

    @Test(
        "the relay is known by its addresses, local names, its own name and the names of allowed pages",
        arguments: [
            "127.0.0.1:7000", "192.0.2.7", "[::1]:7000", "localhost:7000", "LOCALHOST", "demo.localhost", "relay",
            "relay:7000", "box.local", "box.local.:7000", "calls.svc.internal", "relay.example.net",
            "calls.example.org",
        ])
    func names(authority: String) async throws {
        var client = client
        client.authority = authority
        client.sites = SitePolicy(
            allowedOrigins: .only([try WebOrigin(parsing: "https://calls.example.org")]), ownName: "relay.example.net")
        #expect(try await client.send(.get, "/rooms").status == .ok)
        let origin = authority.hasSuffix(".:7000") ? "http://box.local:7000" : "http://\(authority.lowercased())"
        #expect(try await client.send(.get, "/rooms", headers: [.origin: origin]).status == .ok)
    }

    @Test("by HTTPS any name will do, as certificates tell, and an http: page of the same name is another site's")
    func encrypted() async throws {
        var client = client
        client.isEncrypted = true
        client.authority = "calls.example.org"
        #expect(try await client.send(.get, "/rooms").status == .ok)
        #expect(try await client.send(.get, "/rooms", headers: [.origin: "https://calls.example.org"]).status == .ok)
        let downgraded = try await client.send(.get, "/rooms", headers: [.origin: "http://calls.example.org"])
        #expect(downgraded.status == .forbidden)
    }

    @Test("that are allowed may join, but are not local for keys in the offer, nor sent media by its addresses")
    func allowedOrigin() async throws {
        for origins in [AllowedOrigins.any, .only([try WebOrigin(parsing: "https://calls.example.org")])] {
            var client = SignallingClient()
            client.sites = SitePolicy(allowedOrigins: origins)
            let join = Call(method: .post, path: "/whep/demo", type: "application/sdp", body: "v=0\r\n")
            let joined = try await send(join, [.origin: "https://calls.example.org"], with: client)
            #expect(joined.status == .created)
            #expect(joined.headers[.accessControlAllowOrigin] == "https://calls.example.org")
            client.script.state.withLock { state in
                #expect(state.requests.last?.signallingPeer == nil)
                #expect(state.requests.last?.client?.host == "127.0.0.1")
            }
            var withKeys = join
            withKeys.body = Self.keys
            #expect(try await send(withKeys, [.origin: "https://calls.example.org"], with: client).status == .forbidden)
            #expect(try await send(withKeys, [:], with: client).status == .created)
        }
    }

    @Test("a proxy's client is local for keys in the offer only where the proxy says that it came by TLS")
    func proxies() async throws {
        let join = Call(method: .post, path: "/whip/demo", type: "application/sdp", body: Self.keys)
        let forwardedFor = HTTPField.Name.xForwardedFor
        #expect(try await send(join, [forwardedFor: "203.0.113.9"]).status == .forbidden)
        #expect(try await send(join, [.forwarded: "for=203.0.113.9;proto=http"]).status == .forbidden)
        for headers in [
            [forwardedFor: "203.0.113.9", .xForwardedProto: "https"], [.forwarded: "for=203.0.113.9; proto=\"https\""],
        ] as [HTTPFields] {
            #expect(try await send(join, headers).status == .created)
        }
    }

    @Test(
        "origins that are none are told",
        arguments: ["calls.example.org", "ftp://a", "https://", "https://a/b", "http://a:0"])
    func malformedOrigins(text: String) {
        #expect(throws: WebOrigin.ParseError.self) { try WebOrigin(parsing: text) }
    }
}

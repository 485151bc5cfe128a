import HTTPTypes
import SDP
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("WHIP and WHEP (RFC 9725)")
struct WHIPTests {
    private var client = SignallingClient()
    private var script: TwinRelay.Script { client.script }

    private static let sdp: HTTPFields = [.contentType: "application/sdp"]
    private static let candidates = """
        a=ice-ufrag:EsAw\r
        a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r
        m=audio 9 RTP/AVP 0\r
        a=mid:0\r
        a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host\r
        a=end-of-candidates\r

        """

    private func fragment(ifMatch: String?, type: String = TrickleICEFragment.mediaType) -> HTTPFields {
        var headers: HTTPFields = [.contentType: type]
        headers[.ifMatch] = ifMatch
        return headers
    }

    private func patch(
        _ headers: HTTPFields, _ body: String = candidates,
        path: String = "/whip/demo/\(SignallingClient.session("p1"))"
    ) async throws -> SignallingClient.Answer {
        try await client.send(.patch, path, headers: headers, body: body)
    }

    private func join(_ outcome: Result<JoinResult, JoinError>) async throws -> SignallingClient.Answer {
        script.state.withLock { $0.joinOutcome = outcome }
        return try await client.send(.post, "/whip/demo", headers: Self.sdp, body: "v=0\r\n")
    }

    // MARK: The endpoint (4.2)

    @Test("the answer names the session's URL and the ICE session's entity tag")
    func created() async throws {
        let answer = try await join(
            .success(JoinResult(participantID: "p7", answer: "v=0\r\n", entityTag: "\"xyzzy\"")))
        #expect(answer.status == .created)
        #expect(answer.headers[.location] == "/whip/demo/\(SignallingClient.session("p7"))")
        #expect(answer.headers[.eTag] == "\"xyzzy\"")
    }

    @Test(
        "every method but OPTIONS and POST gets 405 at an endpoint",
        arguments: [HTTPRequest.Method.get, .head, .put, .patch, .delete])
    func endpointMethods(method: HTTPRequest.Method) async throws {
        for path in ["/whip/demo", "/whep/demo"] {
            let answer = try await client.send(method, path)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == "OPTIONS, POST")
        }
    }

    @Test(
        "every method but PATCH, DELETE and OPTIONS gets 405 at a session",
        arguments: [HTTPRequest.Method.get, .head, .post, .put])
    func sessionMethods(method: HTTPRequest.Method) async throws {
        for path in ["/whip/demo/\(SignallingClient.session("p1"))", "/whep/demo/\(SignallingClient.session("p1"))"] {
            let answer = try await client.send(method, path)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == "DELETE, OPTIONS, PATCH")
        }
    }

    @Test("an offer without acceptable media gets 406, an invalid one 400")
    func refusedOffers() async throws {
        let unacceptable = try await join(.failure(.offer(.unacceptable(line: 4, reason: "no codec"))))
        #expect(unacceptable.status == .notAcceptable)
        #expect(unacceptable.detail == "line 4: not acceptable: no codec")
        #expect(unacceptable.headers[.contentType] == "application/problem+json")
        #expect(try await join(.failure(.offer(.malformed(line: 1, reason: "x")))).status == .badRequest)
        #expect(try await join(.failure(.offer(.tooLarge(byteCount: 99_999)))).status == .contentTooLarge)
    }

    @Test("a relay that is full says when to try again")
    func full() async throws {
        let answer = try await join(.failure(.roomFull(limit: 50)))
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.headers[.retryAfter] == "5")
    }

    @Test("DELETE of a session ends it, whatever entity tag comes along")
    func delete() async throws {
        let answer = try await client.send(
            .delete, "/whip/demo/\(SignallingClient.session("p1"))", headers: [.ifMatch: "\"old\""])
        #expect(answer.status == .ok)
        #expect(script.state.withLock { $0.left } == ["p1"])
        #expect(try await client.send(.delete, "/whip/demo/\(SignallingClient.session("p1"))").status == .notFound)
    }

    // MARK: ICE servers (4.6)

    @Test("the answer names the ICE servers, and so does OPTIONS that is no preflight")
    func iceServers() async throws {
        var client = SignallingClient()
        client.iceServers = [
            try ICEServer(parsing: "stun:stun.example.net"),
            try ICEServer(parsing: "turn:turn.example.net?transport=udp&username=user&credential=my%22Password"),
        ]
        let links = [
            "<stun:stun.example.net>; rel=\"ice-server\"",
            #"<turn:turn.example.net?transport=udp>; rel="ice-server"; username="user"; "#
                + #"credential="my\"Password"; credential-type="password""#,
        ]
        let joined = try await client.send(.post, "/whep/demo", headers: Self.sdp, body: "v=0\r\n")
        #expect(joined.headers[values: .link] == links)
        let options = try await client.send(.options, "/rooms/demo/participants")
        #expect(options.headers[values: .link] == links)
        let preflight = try await client.send(
            .options, "/whip/demo", headers: [.accessControlRequestMethod: "POST", .origin: "https://example.org"])
        #expect(preflight.headers[values: .link].isEmpty)
    }

    // MARK: Trickle ICE and restarts (4.3)

    @Test("candidates are taken with 204, without a body and without an entity tag")
    func trickle() async throws {
        let body = Self.candidates.split(separator: "\r\n").dropFirst(2).joined(separator: "\r\n") + "\r\n"
        let answer = try await patch(fragment(ifMatch: "\"one\""), body)
        #expect(answer.status == .noContent)
        #expect(answer.body.isEmpty && answer.headers[.eTag] == nil)
        let taken = try #require(script.state.withLock { $0.trickles.first })
        #expect(taken.participant == "p1")
        #expect(taken.value.candidates.count == 1)
    }

    @Test("a restart is answered with the relay's new credentials and entity tag")
    func restart() async throws {
        script.state.withLock {
            $0.restartAnswer = TrickleICEFragment(
                credentials: ICECredentials(usernameFragment: "two2", password: "0123456789012345678901"), isLite: true)
        }
        let answer = try await patch(fragment(ifMatch: "*"))
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/trickle-ice-sdpfrag")
        #expect(answer.headers[.eTag] == "\"two2\"")
        #expect(answer.body == "a=ice-lite\r\na=ice-ufrag:two2\r\na=ice-pwd:0123456789012345678901\r\n")
    }

    @Test("candidates without If-Match get 428, those of another ICE session 412")
    func preconditions() async throws {
        #expect(try await patch(fragment(ifMatch: nil)).status == .preconditionRequired)
        for tag in ["\"other\"", "W/\"one\"", "one", "", "\"a\", \"b\""] {
            #expect(try await patch(fragment(ifMatch: tag)).status == .preconditionFailed)
        }
        #expect(script.state.withLock { $0.trickles.isEmpty })
        #expect(try await patch(fragment(ifMatch: "\"a\", \"one\"")).status == .noContent)
        // Each tag costs a turn of the relay's loop.
        let many = String(repeating: "\"a\", ", count: 16)
        #expect(try await patch(fragment(ifMatch: many + "\"one\"")).status == .preconditionFailed)
    }

    @Test("an invalid fragment, or one that is too large, gets 400 with the reason; a body beyond the limit gets 413")
    func malformedFragment() async throws {
        let answer = try await patch(fragment(ifMatch: "\"one\""), "a=ice-ufrag:EsAw\r\nnonsense\r\n")
        #expect(answer.status == .badRequest)
        #expect(answer.detail.hasPrefix("line 2: "))
        let large = try await patch(
            fragment(ifMatch: "\"one\""), String(repeating: "a=ice-options:x\r\n", count: 2000))
        #expect(large.status == .badRequest && large.detail.contains("at most 16384"))
        let boundless = String(repeating: "a=ice-options:x\r\n", count: 4000)
        #expect(try await patch(fragment(ifMatch: "\"one\""), boundless).status == .contentTooLarge)
    }

    @Test("another content type gets 415 and those that are taken", arguments: ["application/json", "text/plain", ""])
    func mediaType(type: String) async throws {
        let answer = try await patch(fragment(ifMatch: "*", type: type))
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.headers[.acceptPatch] == "application/trickle-ice-sdpfrag, application/sdp")
    }

    @Test("PATCH of an unknown session gets 404, and of one without ICE 501")
    func withoutSession() async throws {
        #expect(
            try await patch(fragment(ifMatch: "*"), path: "/whip/demo/\(SignallingClient.session("p9"))").status
                == .notFound)
        #expect(try await patch(Self.sdp, path: "/whep/demo/\(SignallingClient.session("p9"))").status == .notFound)
        script.state.withLock { $0.isWithoutICE = true }
        #expect(try await patch(fragment(ifMatch: "*")).status == .notImplemented)
    }

    @Test("another offer is answered with 200 and the entity tag as it is then")
    func renegotiation() async throws {
        script.state.withLock {
            $0.joinOutcome = .success(JoinResult(participantID: "p1", answer: "v=0\r\ns=2\r\n", entityTag: "\"two\""))
        }
        let answer = try await patch(
            Self.sdp, "v=0\r\n", path: "/rooms/demo/participants/\(SignallingClient.session("p1"))")
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == "application/sdp")
        #expect(answer.headers[.eTag] == "\"two\"")
        #expect(answer.body == "v=0\r\ns=2\r\n")
        let offer = script.state.withLock { $0.renegotiations.first?.value }
        #expect(offer?.description == ReceivedOffer("v=0\r\n").description)
    }

    @Test("another offer with SRTP keys over plain HTTP is taken from this machine only, and by HTTPS from anywhere")
    func keysInTheClear() async throws {
        let offer = "v=0\r\nm=audio 9 RTP/SAVP 96\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n"
        let elsewhere = TransportAddress(host: "192.0.2.11", port: 1)
        var client = SignallingClient()
        for (method, path) in [
            (HTTPRequest.Method.patch, "/rooms/demo/participants/\(SignallingClient.session("p1"))"),
            (.post, "/whip/demo"),
        ] {
            client.isEncrypted = false
            let refused = try await client.send(method, path, headers: Self.sdp, body: offer, from: elsewhere)
            #expect(refused.status == .forbidden)
            client.isEncrypted = true
            let taken = try await client.send(method, path, headers: Self.sdp, body: offer, from: elsewhere)
            #expect(taken.status == .ok || taken.status == .created)
        }
    }

    // MARK: Other sites' pages (4.2)

    private static let page = "https://example.org"

    private func openedClient() throws -> SignallingClient {
        var client = client
        client.sites = SitePolicy(allowedOrigins: .only([try WebOrigin(parsing: Self.page)]))
        return client
    }

    @Test("a preflight of an allowed page tells methods and fields")
    func preflight() async throws {
        let answer = try await openedClient().send(
            .options, "/whip/demo/p1",
            headers: [
                .origin: Self.page, .accessControlRequestMethod: "PATCH",
                .accessControlRequestHeaders: "content-type, if-match",
            ])
        #expect(answer.status == .ok)
        #expect(answer.headers[.accessControlAllowOrigin] == Self.page)
        #expect(answer.headers[.vary] == "Origin")
        #expect(answer.headers[.accessControlAllowMethods] == "DELETE, OPTIONS, PATCH")
        #expect(
            answer.headers[.accessControlAllowHeaders]
                == "Content-Type, Authorization, If-Match, Last-Event-ID, Room-PIN, Moderator-Key")
        #expect(answer.headers[.acceptPatch] == "application/trickle-ice-sdpfrag, application/sdp")
    }

    @Test("answers and refusals alike can be read by allowed pages of other sites")
    func exposedFields() async throws {
        var headers = Self.sdp
        headers[.origin] = Self.page
        let joined = try await openedClient().send(.post, "/whip/demo", headers: headers, body: "v=0\r\n")
        let refused = try await openedClient().send(.post, "/whip/demo", headers: [.origin: Self.page], body: "v=0\r\n")
        #expect(joined.status == .created && refused.status == .unsupportedMediaType)
        for answer in [joined, refused] {
            #expect(answer.headers[.accessControlAllowOrigin] == Self.page)
            let exposed = answer.headers[.accessControlExposeHeaders] ?? ""
            // By the challenge, a page knows that a room at another relay of the cluster has a PIN.
            for name in ["Location", "ETag", "Link", "WWW-Authenticate"] { #expect(exposed.contains(name)) }
        }
        #expect(try await client.send(.get, "/metrics").headers[.accessControlAllowOrigin] == nil)
    }
}

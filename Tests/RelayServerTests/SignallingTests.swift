import HTTPTypes
import MediaCore
import RoomAPI
import SDP
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Signalling over HTTP")
struct SignallingTests {
    private let client = SignallingClient()
    private var script: TwinRelay.Script { client.script }
    private static let offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"
    private static let keys = "m=audio 9 RTP/SAVP 96\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n"

    private func send(
        _ method: HTTPRequest.Method, _ path: String, type: String? = nil, body: String = "",
        from peer: TransportAddress? = SignallingClient.loopback
    ) async throws -> SignallingClient.Answer {
        var headers: HTTPFields = [:]
        headers[.contentType] = type
        return try await client.send(method, path, headers: headers, body: body, from: peer)
    }

    private func join(
        _ path: String = "/rooms/demo/participants?name=Ada", type: String? = "application/sdp",
        body: String = offer, from peer: TransportAddress? = SignallingClient.loopback
    ) async throws -> SignallingClient.Answer {
        try await send(.post, path, type: type, body: body, from: peer)
    }

    private var requests: [JoinRequest] { script.state.withLock { $0.requests } }

    // MARK: Joining

    @Test("a join is answered with 201, the participant's location and the answer")
    func joinSucceeds() async throws {
        let answer = try await join()
        #expect(answer.status == .created)
        #expect(answer.headers[.location] == "/rooms/demo/participants/\(SignallingClient.session("p1"))")
        #expect(answer.headers[.contentType] == "application/sdp")
        #expect(answer.body == "v=0\r\n")
        let request = try #require(requests.first)
        #expect(request.room == "demo" && request.name == "Ada")
        #expect(request.offer.description == ReceivedOffer(Self.offer).description)
        #expect(request.role == .sendAndReceive && request.selfView == nil)
        #expect(request.signallingPeer?.host == "127.0.0.1")
    }

    @Test(
        "WHIP publishes and WHEP watches", arguments: [("/whip/demo", ParticipantRole.publish), ("/whep/demo", .watch)])
    func whipAndWhep(path: String, role: ParticipantRole) async throws {
        let answer = try await join(path)
        #expect(answer.status == .created)
        #expect(answer.headers[.location] == path + "/\(SignallingClient.session("p1"))")
        #expect(requests.first?.role == role)
        #expect(requests.first?.name == "Guest")
    }

    @Test("names are percent-decoded")
    func decodedName() async throws {
        _ = try await join("/rooms/demo/participants?name=Ada%20L%C3%B6velace")
        #expect(requests.first?.name == "Ada Lövelace")
    }

    @Test("a join can choose its self-view")
    func selfView() async throws {
        _ = try await join("/rooms/demo/participants?self-view=always")
        #expect(requests.first?.selfView == .always)
        let answer = try await join("/rooms/demo/participants?self-view=sometimes")
        #expect(answer.status == .badRequest)
    }

    @Test(
        "a name or room that is not acceptable gets 400",
        arguments: [
            "/rooms/a%20b/participants", "/rooms/demo/participants?name=%00", "/rooms/demo/participants?name=%ff",
            "/rooms/demo/participants?name=A%zz",
        ])
    func badNames(path: String) async throws {
        #expect(try await join(path).status == .badRequest)
        #expect(requests.isEmpty)
    }

    @Test(
        "a parameter of a join with a mistake in its name gets 400 and the names that there are",
        arguments: ["/rooms/demo/participants", "/whip/demo", "/whep/demo"])
    func unknownParameter(path: String) async throws {
        let answer = try await join("\(path)?name=Ada&selfview=never")
        #expect(answer.status == .badRequest && answer.body.contains("selfview") && answer.body.contains("self-view"))
        #expect(requests.isEmpty)
        let known = "name=Ada&self-view=never&resume=&pin=&ticket=&rejoin=&placement=&"
        #expect(try await join("\(path)?\(known)").status == .created)
    }

    @Test("another content type gets 415", arguments: [nil, "application/json", "text/plain", "application/sdpx"])
    func contentType(type: String?) async throws {
        let answer = try await join(type: type)
        #expect(answer.status == .unsupportedMediaType)
        #expect(answer.headers[.acceptPost] == "application/sdp")
    }

    @Test(
        "parameters and case of the content type do not matter",
        arguments: ["application/sdp; charset=utf-8", "Application/SDP"])
    func contentTypeParameters(type: String) async throws {
        #expect(try await join(type: type).status == .created)
    }

    @Test("a body of 64 KiB is taken, one byte more gets 413")
    func bodySize() async throws {
        #expect(try await join(body: String(repeating: "v", count: 65_536)).status == .created)
        let answer = try await join(body: String(repeating: "v", count: 65_537))
        #expect(answer.status == .contentTooLarge)
        #expect(answer.headers[.contentType] == "application/problem+json")
    }

    @Test("a malformed offer gets 400 with the line and the reason")
    func malformedOffer() async throws {
        script.state.withLock {
            $0.joinOutcome = .failure(.offer(.malformed(line: 7, reason: "the port is not a number")))
        }
        let answer = try await join()
        #expect(answer.status == .badRequest)
        #expect(answer.headers[.contentType] == "application/problem+json")
        #expect(answer.detail == "line 7: the port is not a number")
        #expect(answer.json["status"] as? Int == 400)
        #expect(answer.json["title"] as? String == "Bad Request")
    }

    @Test("a full room and a relay that closes get 503 and when to try again")
    func unavailable() async throws {
        for error in [JoinError.roomFull(limit: 2), .tooManyRooms(limit: 1), .closed, .resources("no encoder")] {
            script.state.withLock { $0.joinOutcome = .failure(error) }
            let answer = try await join()
            #expect(answer.status == .serviceUnavailable)
            #expect(answer.headers[.retryAfter] != nil)
            #expect(answer.detail == error.description)
        }
    }

    @Test("SRTP keys over plain HTTP are taken from this machine only")
    func keysInTheClear() async throws {
        let body = Self.offer + Self.keys
        #expect(try await join(body: body).status == .created)
        #expect(try await join(body: body, from: TransportAddress(host: "::1", port: 1)).status == .created)
        #expect(try await join(body: body, from: TransportAddress(host: "192.0.2.10", port: 1)).status == .created)
        let answer = try await join(body: body, from: TransportAddress(host: "192.0.2.11", port: 1))
        #expect(answer.status == .forbidden)
        #expect(requests.count == 3)
        #expect(try await join(from: TransportAddress(host: "192.0.2.11", port: 1)).status == .created)
    }

    // MARK: Leaving and looking

    @Test("a participant leaves once")
    func leave() async throws {
        #expect(try await send(.delete, "/rooms/demo/participants/\(SignallingClient.session("p1"))").status == .ok)
        #expect(script.state.withLock { $0.left } == ["p1"])
        #expect(
            try await send(.delete, "/rooms/demo/participants/\(SignallingClient.session("p1"))").status == .notFound)
    }

    private func openRoom() {
        let ada = ParticipantSnapshot(id: "p1", name: "Ada <x>", role: "sendAndReceive")
        script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo", participants: [ada])] }
    }

    @Test("rooms and participants can be looked at as JSON")
    func state() async throws {
        openRoom()
        #expect(try await send(.get, "/rooms").body == #"{"rooms":[{"id":"demo","participantCount":1}]}"#)
        let room = try await send(.get, "/rooms/demo")
        #expect(room.headers[.contentType] == "application/json")
        #expect(room.json["id"] as? String == "demo")
        #expect((room.json["participants"] as? [[String: Any]])?.first?["name"] as? String == "Ada <x>")
        let participant = try await send(.get, "/rooms/demo/participants/p1")
        #expect(participant.json["role"] as? String == "sendAndReceive")
    }

    @Test(
        "missing resources get 404 with a problem document",
        arguments: ["/rooms/other", "/rooms/demo/participants/p9", "/nowhere", "/rooms/demo/x"])
    func notFound(path: String) async throws {
        openRoom()
        let answer = try await send(.get, path)
        #expect(answer.status == .notFound)
        #expect(answer.json["status"] as? Int == 404)
    }

    @Test("a method that a resource does not have gets 405 and those it has")
    func methodNotAllowed() async throws {
        let answer = try await send(.put, "/rooms/demo/participants")
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.headers[.allow] == "OPTIONS, POST")
        #expect(try await send(.post, "/rooms").headers[.allow] == "GET, HEAD, OPTIONS")
    }

    @Test("OPTIONS states which content types can be posted")
    func options() async throws {
        let answer = try await send(.options, "/whip/demo")
        #expect(answer.status == .ok)
        #expect(answer.headers[.acceptPost] == "application/sdp")
    }

    @Test("liveness is always given, readiness only while media is served")
    func health() async throws {
        #expect(try await send(.get, "/healthz").status == .ok)
        let answer = try await send(.get, "/readyz")
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.json["reason"] as? String == "media is not being served")
    }

    @Test("a join that there is no time for gets 503, when to try again, and the reason")
    func overloaded() async throws {
        let error = JoinError.overloaded(reason: "the relay has no seats left", retryAfter: 30)
        script.state.withLock { $0.joinOutcome = .failure(error) }
        let answer = try await join()
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.headers[.retryAfter] == "30")
        #expect(answer.detail == "the relay has no seats left; try again in 30 s")
    }

    @Test("a join over the bound of unconnected joins gets 429 for its own address, 503 for all, and when to try again")
    func tooManyUnconnected() async throws {
        for (error, status) in [
            (JoinError.tooManyUnconnectedFromAddress(limit: 32, retryAfter: 4), HTTPResponse.Status.tooManyRequests),
            (.tooManyUnconnected(limit: 256, retryAfter: 4), .serviceUnavailable),
        ] {
            script.state.withLock { $0.joinOutcome = .failure(error) }
            let answer = try await join()
            #expect(answer.status == status)
            #expect(answer.headers[.retryAfter] == "4")
            #expect(answer.detail.contains("try again in 4 s"))
        }
    }

    @Test("a client that comes back gets its identity only with the key of its session, and is let in in any case")
    func resuming() async throws {
        for (session, expected) in [
            (SignallingClient.session("p7"), "p7"), ("p7", nil), ("p7.00000000000000000000", nil), ("", nil),
        ] as [(String, String?)] {
            #expect(try await join("/rooms/demo/participants?name=Ada&resume=\(session)").status == .created)
            #expect(requests.last?.returningAs == expected)
            #expect(requests.last?.claimsToReturn == true)
        }
        #expect(try await join().status == .created)
        #expect(requests.last?.claimsToReturn == false)
    }

    @Test("metrics come as Prometheus text")
    func metrics() async throws {
        openRoom()
        let answer = try await send(.get, "/metrics")
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.body.contains("confrelay_room_participants{room=\"demo\"} 1\n"))
    }

    @Test("random requests never get anything but an answer")
    func hostileRequests() async throws {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "rooms", "participants", "whip", "whep", "", "..", "%", "%00", "%ff", "a?name=", "&", "=", "?", "#", "💥",
            "self-view",
        ]
        let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete, .patch, .options, .head]
        for _ in 0..<500 {
            let path = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            let method = methods[Int.random(in: 0..<methods.count, using: &generator)]
            let answer = try await send(method, "/" + path.joined(separator: "/"), type: "application/sdp")
            #expect(answer.status != .internalServerError)
        }
    }
}

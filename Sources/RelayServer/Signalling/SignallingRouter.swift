import Conference
import HTTPTypes
import Hummingbird
import SecureTransport

/// The relay's HTTP interface, as `docs/http-api.md` describes it.
struct SignallingRouter {
    /// Answers a request for one resource.
    typealias Handler = @Sendable (Request, SignallingContext) async throws -> Response

    let driver: RelayDriver
    /// The port of the media socket.
    let mediaPort: UInt16
    /// Whether an address belongs to this machine.
    let isLocalAddress: @Sendable (TransportAddress) -> Bool
    /// What the page is made of.
    var webFiles = WebFiles.embedded

    /// Everything that HTTP clients reach.
    func makeRouter() -> Router<SignallingContext> {
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ProblemMiddleware())
        add("/", to: router, [.get: page])
        add("/web/**", to: router, [.get: webFile])
        add("/healthz", to: router, [.get: { _, _ in .text("ok\n") }])
        add("/readyz", to: router, [.get: readiness])
        add("/metrics", to: router, [.get: metrics])
        add("/rooms", to: router, [.get: roomList])
        add("/rooms/:room", to: router, [.get: room])
        add("/rooms/:room/participants", to: router, [.post: joining(as: .sendAndReceive)])
        add("/rooms/:room/participants/:participant", to: router, [.get: participant, .delete: leave])
        add("/whip/:room", to: router, [.post: joining(as: .publish)])
        add("/whep/:room", to: router, [.post: joining(as: .watch)])
        return router
    }

    /// Routes a path's methods, answers `OPTIONS`, and refuses every other method with what is allowed.
    private func add(
        _ path: RouterPath, to router: Router<SignallingContext>, _ handlers: [HTTPRequest.Method: Handler]
    ) {
        for (method, handler) in handlers { router.on(path, method: method, use: handler) }
        var allowed = handlers.keys.map(\.rawValue) + ["OPTIONS"]
        if handlers[.get] != nil { allowed.append("HEAD") }
        var headers: HTTPFields = [.allow: allowed.sorted().joined(separator: ", ")]
        router.on(path, method: .options) { [headers] _, _ in
            var headers = headers
            if handlers[.post] != nil { headers[.acceptPost] = "application/sdp" }
            return Response(status: .noContent, headers: headers)
        }
        headers[.connection] = nil
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] where handlers[method] == nil {
            router.on(path, method: method) { [headers] request, _ -> Response in
                throw Problem(
                    .methodNotAllowed, "\(request.method.rawValue) is not possible here; see the Allow field",
                    headers: headers)
            }
        }
    }

    // MARK: Joining and leaving

    private func joining(as role: ParticipantRole) -> Handler {
        { request, context in
            let room = try RoomName(context.parameters.require("room"))
            let query = request.uri.queryParameters
            let name = try query["name"].map { try ParticipantName(String($0)) } ?? .guest
            let selfView = try query["self-view"].map { try Self.selfView(String($0)) }
            let offer = try await sessionDescription(from: request)
            try checkKeyExchange(offer: offer, peer: context.peer)
            let joined: JoinResult
            do {
                joined = try await driver.join(
                    JoinRequest(
                        room: room.rawValue, name: name.rawValue, offer: offer, role: role, selfView: selfView,
                        signallingPeer: Self.isForwarded(request) ? nil : context.peer))
            } catch let error as JoinError {
                throw Problem(error)
            }
            var response = Response.text(joined.answer, type: "application/sdp", status: .created)
            response.headers[.location] = "/rooms/\(room.rawValue)/participants/\(joined.participantID)"
            return response
        }
    }

    private static func selfView(_ text: String) throws(Problem) -> SelfView {
        guard let selfView = SelfView(rawValue: text) else {
            let choices = SelfView.allCases.map(\.rawValue).joined(separator: " or ")
            throw Problem(.badRequest, "self-view is '\(text.prefix(32))'; use \(choices)")
        }
        return selfView
    }

    /// The body, when it says that it is a session description and is one in size and encoding.
    private func sessionDescription(from request: Request) async throws -> String {
        let mediaType = request.headers[.contentType]?.prefix { $0 != ";" }
        guard mediaType?.trimmingSuffix(while: \.isWhitespace).lowercased() == "application/sdp" else {
            throw Problem(
                .unsupportedMediaType, "the body must be an SDP offer: send Content-Type: application/sdp",
                headers: [.acceptPost: "application/sdp"])
        }
        let body = try await request.body.collect(upTo: SignallingLimits.bodySize)
        guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw Problem(.badRequest, "the body is not text in UTF-8")
        }
        return text
    }

    /// Whether a proxy passed the request on. Its peer is then the proxy: the offer's addresses are not the peer's, and no
    /// media may go there before a packet from there has authenticated.
    private static func isForwarded(_ request: Request) -> Bool {
        ["Forwarded", "X-Forwarded-For"].contains { name in
            HTTPField.Name(name).map { request.headers.contains($0) } ?? false
        }
    }

    /// Refuses keys that crossed a network in the clear (RFC 4568, section 7.1): `a=crypto` over plain HTTP is taken
    /// from this machine only, a reverse proxy with TLS included.
    private func checkKeyExchange(offer: String, peer: TransportAddress?) throws(Problem) {
        guard let peer, !peer.isLoopback, !isLocalAddress(peer) else { return }
        let carriesKeys = offer.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains {
            $0.starts(with: "a=crypto:".utf8)
        }
        guard !carriesKeys else {
            throw Problem(
                .forbidden,
                "the offer carries SRTP keys (a=crypto) over plain HTTP from another machine, where anyone on the way "
                    + "can read them: put a TLS proxy in front of the relay, or join from its own machine")
        }
    }

    private func leave(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let participant = try context.parameters.require("participant")
        guard await driver.leave(room: room.rawValue, participant: participant) else {
            throw Problem(.notFound, "there is no such participant in the room '\(room.rawValue)'")
        }
        return Response(status: .ok)
    }

    // MARK: State

    private func roomList(_ request: Request, _ context: SignallingContext) async throws -> Response {
        struct Summary: Encodable {
            var id: String
            var participantCount: Int
        }
        let rooms = await driver.rooms().map { Summary(id: $0.id, participantCount: $0.participants.count) }
        return try .json(["rooms": rooms])
    }

    private func room(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var response: Response
        if AcceptedTypes(request.headers[.accept]).prefersHTML {
            // A name that is not acceptable is the page's to refuse no less than ours.
            _ = try RoomName(context.parameters.require("room"))
            response = try await page(request, context)
        } else {
            response = try await .json(findRoom(context))
        }
        response.headers[.vary] = "Accept"
        return response
    }

    private func participant(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try await findRoom(context)
        let id = try context.parameters.require("participant")
        guard let participant = room.participants.first(where: { $0.id == id }) else {
            throw Problem(.notFound, "there is no such participant in the room '\(room.id)'")
        }
        return try .json(participant)
    }

    private func findRoom(_ context: SignallingContext) async throws -> RoomSnapshot {
        let name = try RoomName(context.parameters.require("room"))
        guard let room = await driver.room(name.rawValue) else {
            throw Problem(.notFound, "there is no room '\(name.rawValue)'; a room is there while someone is in it")
        }
        return room
    }

    private func readiness(_ request: Request, _ context: SignallingContext) async throws -> Response {
        guard await driver.report().isServing else {
            throw Problem(.serviceUnavailable, "media is not being served")
        }
        return .text("ready\n")
    }

    private func metrics(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var report = await driver.report()
        report.kernelDrops = KernelDropCounter(port: mediaPort).read()
        return .text(report.prometheusText(), type: PrometheusText.contentType)
    }

}

extension Problem {
    /// Says over HTTP why a join was refused.
    init(_ error: JoinError) {
        let status: HTTPResponse.Status
        switch error {
        case .offer(.tooLarge): status = .contentTooLarge
        case .offer: status = .badRequest
        case .roomFull, .tooManyRooms, .closed, .resources: status = .serviceUnavailable
        }
        self.init(
            status, error.description, headers: status == .serviceUnavailable ? [.retryAfter: "5"] : [:])
    }
}

extension Substring {
    fileprivate func trimmingSuffix(while predicate: (Character) -> Bool) -> Substring {
        var result = self
        while let last = result.last, predicate(last) { result.removeLast() }
        return result
    }
}

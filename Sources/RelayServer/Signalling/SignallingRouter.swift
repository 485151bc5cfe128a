import Conference
import Foundation
import HTTPTypes
import Hummingbird
import MediaCore
import RoomAPI
import RoomMedia
import SDP
import SecureTransport

/// The relay's HTTP interface, as `docs/http-api.md` describes it.
struct SignallingRouter {
    /// Answers a request for one resource.
    typealias Handler = @Sendable (Request, SignallingContext) async throws -> Response

    let driver: RelayDriver
    /// The port of the media socket.
    let mediaPort: UInt16
    /// True if requests come by HTTPS.
    let isEncrypted: Bool
    /// Returns true if an address belongs to this machine.
    let isLocalAddress: @Sendable (TransportAddress) -> Bool
    /// The connections that requests come on; nil if there are none.
    var connections: ConnectionRegister?
    /// The certificate of HTTPS; nil for plain HTTP.
    var certificates: CertificateStore?
    /// The STUN and TURN servers that joining clients get.
    var iceServers: [ICEServer] = []
    /// The secret from which credentials of servers without credentials are made.
    var turnSecret: TURNSecret?
    /// Where events go; nil for nowhere.
    var events: EventOutputs?
    /// Traces joins; nil where no collector is configured.
    var tracer: JoinTracer?
    /// The names of sessions in locations.
    let sessions: SessionNames
    /// Where recordings are; nil: the relay does not record.
    var recordings: RecordingStore?
    /// The live streams of rooms; nil: the relay does not stream.
    var streams: LiveStreams?
    /// Where rooms may be sent; nil: the relay sends them nowhere.
    var outputRules: HostRules?
    /// nil: the relay plays no films.
    var playerRules: PlayerRules?
    /// The files of the page.
    var webFiles = WebFiles.embedded
    /// The policy for web pages that use the relay.
    var sites = SitePolicy()
    /// Finds the client of a request.
    var clients = ClientDirectory()
    /// The limits of a client's requests.
    var quotas = RequestQuotas()
    /// The permissions of callers.
    let access: AccessControl
    let avatars = AvatarReader()
    /// True if figures, the list of rooms and the debug view are served at another address.
    var hasAdministrationAddress = false
    /// The cluster of the relay; nil: it has none.
    var cluster: ClusterService?
    /// The clock of quotas.
    var now: @Sendable () -> MonotonicInstant = { .now() }

    /// Everything that HTTP clients reach.
    func makeRouter() -> Router<SignallingContext> {
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SiteMiddleware(policy: sites, cluster: cluster))
        router.add(middleware: ProblemMiddleware(page: page))
        router.add(middleware: QuotaMiddleware(clients: clients, quotas: quotas, now: now, cluster: cluster))
        for route in routes { add(route, to: router) }
        return router
    }

    /// The servers to announce to a client, with credentials of its own if the operator has given a secret.
    func servers(for user: String) -> [ICEServer] {
        iceServers.map { turnSecret?.completing($0, for: user, at: Date()) ?? $0 }
    }

    /// The answer to what operators ask for where that has an address of its own; nil: it is served here.
    var elsewhere: Handler? { hasAdministrationAddress ? { @Sendable _, _ in throw Self.servedElsewhere } : nil }

    /// The routes, and the permission that each needs.
    var routes: [Route] {
        let endpoints: [Route] = [JoiningEndpoint.whip, .whep].flatMap { endpoint in
            [
                Route(endpoint.route, [.init(.post, .join, joining(endpoint))]),
                Route(
                    "/\(endpoint.rawValue)/:room/:participant",
                    [.init(.patch, .ownSession, update), .init(.delete, .ownSession, leave)]),
            ]
        }
        let own: [Route] = [
            Route("/", [.init(.get, .none, page)]),
            Route("/web/**", [.init(.get, .none, webFile)]),
            Route("/openapi.json", [.init(.get, .none, interfaceDescription)]),
            Route("/healthz", [.init(.get, .none, health)]),
            Route("/readyz", [.init(.get, .none, readiness)]),
            Route("/metrics", [.init(.get, .needsEverywhere(.inspect), elsewhere ?? metrics)]),
            Route("/rooms", [.init(.get, .needsEverywhere(.inspect), elsewhere ?? roomList)]),
            Route(
                "/rooms/:room",
                [.init(.get, .needsUnlessPage(.watch), room), .init(.delete, .needs(.moderate), endRoom)]),
            Route("/rooms/:room/events", [.init(.get, .needs(.watch), events)]),
            Route("/rooms/:room/debug", [.init(.get, .needs(.inspect), elsewhere ?? debugView)]),
            Route("/rooms/:room/debug.svg", [.init(.get, .needs(.inspect), elsewhere ?? debugDrawing)]),
            Route("/rooms/:room/debug.json", [.init(.get, .needs(.inspect), elsewhere ?? debugData)]),
            Route("/rooms/:room/layout", [.init(.put, .needs(.arrange), setRoomLayout)]),
            Route(
                "/rooms/:room/overlays",
                [.init(.get, .needs(.watch), overlays), .init(.put, .needs(.arrange), setOverlays)]),
            Route(JoiningEndpoint.participants.route, [.init(.post, .join, joining(.participants))]),
            Route(
                "/rooms/:room/participants/:participant",
                [
                    .init(.get, .ownSessionOr(.watch), participant), .init(.patch, .ownSession, update),
                    .init(.delete, .ownSessionOr(.moderate), leaveOrRemove),
                ]),
            Route(
                "/rooms/:room/participants/:participant/layout",
                [
                    .init(.put, .ownSessionOr(.arrange), setParticipantLayout),
                    .init(.delete, .ownSessionOr(.arrange), resetParticipantLayout),
                ]),
            Route("/rooms/:room/participants/:participant/media", [.init(.put, .ownSession, setMediaState)]),
            Route(
                "/rooms/:room/participants/:participant/avatar",
                [.init(.put, .ownSession, setAvatar), .init(.delete, .ownSession, removeAvatar)]),
        ]
        let administration = Route(
            "/admin/drain",
            [
                .init(.post, .needsEverywhere(.moderate), elsewhere ?? beginDraining),
                .init(.delete, .needsEverywhere(.moderate), elsewhere ?? endDraining),
            ])
        return own + [administration] + clusterRoutes + cascadeRoutes + moderationRoutes + recordingRoutes
            + streamRoutes + outputRoutes + playerRoutes + endpoints
    }

    /// Routes a path's methods, answers `OPTIONS`, and refuses every other method with what is allowed.
    func add(_ route: Route, to router: Router<SignallingContext>) {
        let path = RouterPath(route.path)
        let methods = Set(route.requests.map(\.method))
        for request in route.requests {
            router.on(path, method: request.method, use: checked(request, path: route.path))
        }
        var allowed = methods.map(\.rawValue) + ["OPTIONS"]
        if methods.contains(.get) { allowed.append("HEAD") }
        var headers: HTTPFields = [.allow: allowed.sorted().joined(separator: ", ")]
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] where !methods.contains(method) {
            router.on(path, method: method) { [headers] request, _ -> Response in
                throw Problem(
                    .methodNotAllowed, "\(request.method.rawValue) is not possible here; see the Allow field",
                    headers: headers)
            }
        }
        let isJoined = route.requests.contains { $0.requirement == .join }
        if isJoined { headers[.acceptPost] = SignallingMediaType.sdp }
        if methods.contains(.patch) { headers[.acceptPatch] = SignallingMediaType.updates }
        router.on(path, method: .options) { [headers, self] request, context in
            var headers = headers
            // Clients that need the servers before their offer ask in this way; a browser's preflight does not want
            // them (RFC 9725, section 4.6).
            if isJoined, !request.headers.contains(.accessControlRequestMethod), try await mayJoin(request, context) {
                headers.append(servers(for: "guest"))
            }
            return Response(status: .ok, headers: headers)
        }
    }

    /// Returns true if a client is told the credentials of TURN servers. These servers carry traffic for everybody who
    /// has the credentials, so a client needs a token where joins need one.
    private func mayJoin(_ request: Request, _ context: SignallingContext) async throws -> Bool {
        guard !access.isOpen else { return true }
        guard request.headers.contains(.authorization) else { return false }
        let room = try context.parameters.get("room").map { try RoomName($0) }
        _ = try await access.check(.join, request, context, room: room, session: nil)
        return true
    }

    /// Answers a request only if its sender may ask for it. Refusals are told to webhooks and the event log.
    private func checked(_ route: Route.Request, path: String) -> Handler {
        guard route.requirement != .none else { return route.handler }
        return { [self] request, context in
            let room = try context.parameters.get("room").map { try RoomName($0) }
            do {
                return try await answer(request, of: route, room: room, context)
            } catch let problem as Problem where Self.refusals.contains(problem.status) {
                if events != nil {
                    let refused = RelayEvent.RefusedRequest(
                        method: request.method.rawValue, path: path, status: problem.status.code,
                        address: context.client?.host)
                    await driver.tellRefusal(of: refused, room: room?.rawValue, reason: problem.detail)
                }
                throw problem
            }
        }
    }

    /// The answers to those who may not do what they ask for.
    private static let refusals: Set<HTTPResponse.Status> = [.unauthorized, .forbidden, .tooManyRequests]

    private func answer(
        _ request: Request, of route: Route.Request, room: RoomName?, _ context: SignallingContext
    ) async throws -> Response {
        var context = context
        if let room, let elsewhere = try await sendOn(request, context, room: room, requirement: route.requirement) {
            return elsewhere
        }
        if route.requirement == .join, let claims = await claims(ofTicketIn: request, room: room) {
            context.caller = try access.caller(with: claims)
        } else {
            context.caller = try await access.check(
                route.requirement, request, context, room: room, session: context.parameters.get("participant"))
        }
        if let identity = context.caller.claims?.identity {
            try quotas.count(request, of: .identity(identity), now: now())
        }
        return try await route.handler(request, context)
    }
}

/// A path and what can be done with it.
struct Route: Sendable {
    let path: String
    let requests: [Request]

    init(_ path: String, _ requests: [Request]) {
        self.path = path
        self.requests = requests
    }

    /// A method, what it takes, and what answers it.
    struct Request: Sendable {
        let method: HTTPRequest.Method
        let requirement: Requirement
        let handler: SignallingRouter.Handler

        init(_ method: HTTPRequest.Method, _ requirement: Requirement, _ handler: @escaping SignallingRouter.Handler) {
            self.method = method
            self.requirement = requirement
            self.handler = handler
        }
    }
}

/// The endpoints at which participants join, by the first segment of the path.
enum JoiningEndpoint: String {
    /// Sends and receives.
    case participants = "rooms"
    /// Publishes only (RFC 9725).
    case whip
    /// Watches only (draft-ietf-wish-whep).
    case whep

    var role: ParticipantRole {
        switch self {
        case .participants: .sendAndReceive
        case .whip: .publish
        case .whep: .watch
        }
    }

    /// The path at which it is served.
    var route: String {
        switch self {
        case .participants: "/rooms/:room/participants"
        case .whip, .whep: "/\(rawValue)/:room"
        }
    }

    /// Returns the location of a participant that joined here.
    func location(room: RoomName, session: String) -> String {
        switch self {
        case .participants: "/rooms/\(room.rawValue)/participants/\(session)"
        case .whip, .whep: "/\(rawValue)/\(room.rawValue)/\(session)"
        }
    }
}

/// The media types of requests to the relay.
enum SignallingMediaType {
    static let sdp = "application/sdp"
    static let json = "application/json"
    static let png = "image/png"
    /// The media types that `PATCH` accepts.
    static let updates = "\(TrickleICEFragment.mediaType), \(sdp)"
}

extension HTTPFields {
    /// Adds a `Link` field for each server.
    mutating func append(_ servers: [ICEServer]) {
        for server in servers { append(HTTPField(name: .link, value: server.link)) }
    }
}

extension HTTPField.Name {
    static let acceptPost = known("Accept-Post")
    static let acceptPatch = known("Accept-Patch")
    static let link = known("Link")
}

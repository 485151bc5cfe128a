import Conference
import Foundation
import HTTPTypes
import Hummingbird
import MediaCore
import RoomAPI
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
    /// The STUN and TURN servers that joining clients get.
    var iceServers: [ICEServer] = []
    /// What credentials of those that have none are made with.
    var turnSecret: TURNSecret?
    /// Where events go; nil for nowhere.
    var events: EventOutputs?
    /// The names of sessions in locations.
    let sessions: SessionNames
    /// Where recordings are; nil: the relay does not record.
    var recordings: RecordingStore?
    /// The files of the page.
    var webFiles = WebFiles.embedded
    /// Which web pages may use the relay.
    var sites = SitePolicy()
    /// Whose request it is.
    var clients = ClientDirectory()
    /// How often a client may ask.
    var quotas = RequestQuotas()
    /// Who may do what.
    let access: AccessControl
    /// Whether figures, the list of rooms and the debug view are served at another address.
    var hasAdministrationAddress = false
    /// The cluster of the relay; nil: it has none.
    var cluster: ClusterService?
    /// The clock of quotas.
    var now: @Sendable () -> MonotonicInstant = { .now() }

    /// Everything that HTTP clients reach.
    func makeRouter() -> Router<SignallingContext> {
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SiteMiddleware(policy: sites, cluster: cluster))
        router.add(middleware: ProblemMiddleware())
        router.add(middleware: QuotaMiddleware(clients: clients, quotas: quotas, now: now))
        for route in routes { add(route, to: router) }
        return router
    }

    /// The servers that somebody is told of, with credentials of their own where the operator has given a secret.
    func servers(for user: String) -> [ICEServer] {
        iceServers.map { turnSecret?.completing($0, for: user, at: Date()) ?? $0 }
    }

    /// What is served, and what each request takes.
    var routes: [Route] {
        let elsewhere: Handler? = hasAdministrationAddress ? { @Sendable _, _ in throw Self.servedElsewhere } : nil
        return [
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
            Route("/rooms/:room/participants", [.init(.post, .join, joining(.participants))]),
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
            + [
                Route(
                    "/admin/drain",
                    [
                        .init(.post, .needsEverywhere(.moderate), elsewhere ?? beginDraining),
                        .init(.delete, .needsEverywhere(.moderate), elsewhere ?? endDraining),
                    ])
            ]
            + moderationRoutes
            + recordingRoutes
            + [JoiningEndpoint.whip, .whep].flatMap { endpoint in
                [
                    Route("/\(endpoint.rawValue)/:room", [.init(.post, .join, joining(endpoint))]),
                    Route(
                        "/\(endpoint.rawValue)/:room/:participant",
                        [.init(.patch, .ownSession, update), .init(.delete, .ownSession, leave)]),
                ]
            }
    }

    /// Routes a path's methods, answers `OPTIONS`, and refuses every other method with what is allowed.
    func add(_ route: Route, to router: Router<SignallingContext>) {
        let path = RouterPath(route.path)
        let methods = Set(route.requests.map(\.method))
        for request in route.requests {
            router.on(path, method: request.method, use: checked(request))
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
        router.on(path, method: .options) { [headers, self] request, _ in
            var headers = headers
            // Clients that need the servers before their offer ask in this way; a browser's preflight does not want
            // them (RFC 9725, section 4.6).
            if isJoined, !request.headers.contains(.accessControlRequestMethod) {
                headers.append(servers(for: "guest"))
            }
            return Response(status: .ok, headers: headers)
        }
    }

    /// Answers a request only if its sender may ask for it.
    private func checked(_ request: Route.Request) -> Handler {
        let (requirement, handler, access, quotas, now) = (request.requirement, request.handler, access, quotas, now)
        guard requirement != .none else { return handler }
        return { [self] request, context in
            var context = context
            let room = try context.parameters.get("room").map { try RoomName($0) }
            if let room, let elsewhere = await sendOn(request, room: room, requirement: requirement) {
                return elsewhere
            }
            if requirement == .join, let claims = await claims(ofTicketIn: request, room: room) {
                context.caller = try access.caller(with: claims)
            } else {
                context.caller = try await access.check(
                    requirement, request, context, room: room, session: context.parameters.get("participant"))
            }
            if let identity = context.caller.claims?.identity, let kind = QuotaMiddleware.kind(of: request.method),
                let seconds = quotas.take(kind, of: .identity(identity), now: now())
            {
                throw Problem.tooManyRequests(kind, retryAfter: seconds)
            }
            return try await handler(request, context)
        }
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

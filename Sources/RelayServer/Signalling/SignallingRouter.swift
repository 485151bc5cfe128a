import Conference
import Foundation
import HTTPTypes
import Hummingbird
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

    /// Everything that HTTP clients reach.
    func makeRouter() -> Router<SignallingContext> {
        let router = Router(context: SignallingContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: CrossOriginMiddleware())
        router.add(middleware: ProblemMiddleware())
        add("/", to: router, [.get: page])
        add("/web/**", to: router, [.get: webFile])
        add("/openapi.json", to: router, [.get: interfaceDescription])
        add("/healthz", to: router, [.get: { _, _ in .text("ok\n") }])
        add("/readyz", to: router, [.get: readiness])
        add("/metrics", to: router, [.get: metrics])
        add("/rooms", to: router, [.get: roomList])
        add("/rooms/:room", to: router, [.get: room])
        add("/rooms/:room/events", to: router, [.get: events])
        add("/rooms/:room/debug", to: router, [.get: debugView])
        add("/rooms/:room/debug.svg", to: router, [.get: debugDrawing])
        add("/rooms/:room/debug.json", to: router, [.get: debugData])
        add("/rooms/:room/layout", to: router, [.put: setRoomLayout])
        add("/rooms/:room/overlays", to: router, [.get: overlays, .put: setOverlays])
        add("/rooms/:room/recordings", to: router, [.get: roomRecordings, .post: startRecording])
        add("/rooms/:room/recordings/:recording", to: router, [.get: recording, .delete: stopRecording])
        add("/recordings", to: router, [.get: allRecordings])
        add("/recordings/:recording", to: router, [.get: recording, .delete: deleteRecording])
        add("/rooms/:room/participants", to: router, [.post: joining(.participants)])
        add(
            "/rooms/:room/participants/:participant", to: router,
            [.get: participant, .patch: update, .delete: leave])
        add(
            "/rooms/:room/participants/:participant/layout", to: router,
            [.put: setParticipantLayout, .delete: resetParticipantLayout])
        add("/rooms/:room/participants/:participant/media", to: router, [.put: setMediaState])
        add(
            "/rooms/:room/participants/:participant/avatar", to: router,
            [.put: setAvatar, .delete: removeAvatar])
        for endpoint in [JoiningEndpoint.whip, .whep] {
            add("/\(endpoint.rawValue)/:room", to: router, [.post: joining(endpoint)])
            add("/\(endpoint.rawValue)/:room/:participant", to: router, [.patch: update, .delete: leave])
        }
        return router
    }

    /// The servers that somebody is told of, with credentials of their own where the operator has given a secret.
    func servers(for user: String) -> [ICEServer] {
        iceServers.map { turnSecret?.completing($0, for: user, at: Date()) ?? $0 }
    }

    /// Routes a path's methods, answers `OPTIONS`, and refuses every other method with the list of allowed ones.
    private func add(
        _ path: String, to router: Router<SignallingContext>, _ handlers: [HTTPRequest.Method: Handler]
    ) {
        let path = RouterPath(path)
        for (method, handler) in handlers { router.on(path, method: method, use: handler) }
        var allowed = handlers.keys.map(\.rawValue) + ["OPTIONS"]
        if handlers[.get] != nil { allowed.append("HEAD") }
        var headers: HTTPFields = [.allow: allowed.sorted().joined(separator: ", ")]
        for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] where handlers[method] == nil {
            router.on(path, method: method) { [headers] request, _ -> Response in
                throw Problem(
                    .methodNotAllowed, "\(request.method.rawValue) is not possible here; see the Allow field",
                    headers: headers)
            }
        }
        if handlers[.post] != nil { headers[.acceptPost] = SignallingMediaType.sdp }
        if handlers[.patch] != nil { headers[.acceptPatch] = SignallingMediaType.updates }
        let isJoined = handlers[.post] != nil
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

import Conference
import HTTPTypes
import Hummingbird
import RoomAPI
import SDP
import SecureTransport

/// Joining and leaving (RFC 9725, section 4.2).
extension SignallingRouter {
    func joining(_ endpoint: JoiningEndpoint) -> Handler {
        { request, context in
            let room = try RoomName(context.parameters.require("room"))
            let query = request.uri.queryParameters
            let name = try query["name"].map { try ParticipantName(String($0)) } ?? .guest
            let selfView = try query["self-view"].map { try Self.selfView(String($0)) }
            // A name of before the relay was started again is no reason to refuse the join.
            let former = query["resume"].flatMap { try? sessions.participant(ofSession: String($0), in: room) }
            guard request.mediaType == SignallingMediaType.sdp else {
                throw Problem(
                    .unsupportedMediaType, "the body must be an SDP offer: send Content-Type: application/sdp",
                    headers: [.acceptPost: SignallingMediaType.sdp])
            }
            let offer = try await request.text()
            try checkKeyExchange(offer: offer, peer: context.peer)
            // A proxy on this machine joins for many clients; from elsewhere anybody can claim to be a proxy.
            let isForwarded = Self.isForwarded(request)
            let joined: JoinResult
            do throws(JoinError) {
                joined = try await driver.join(
                    JoinRequest(
                        room: room.rawValue, name: name.rawValue, offer: offer, role: endpoint.role,
                        selfView: selfView, signallingPeer: isForwarded ? nil : context.peer,
                        client: isForwarded && context.peer?.isLoopback == true ? nil : context.peer,
                        returningAs: former))
            } catch {
                throw Problem(error)
            }
            var response = Response.text(joined.answer, type: SignallingMediaType.sdp, status: .created)
            response.headers[.location] = endpoint.location(
                room: room, session: try sessions.name(of: joined.participantID, in: room))
            response.headers[.eTag] = joined.entityTag
            response.headers.append(servers(for: joined.participantID))
            return response
        }
    }

    func leave(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        guard await driver.leave(room: room.rawValue, participant: participant) else {
            throw Problem(.notFound, "there is no such participant in the room '\(room.rawValue)'")
        }
        return Response(status: .ok)
    }

    /// The room and the participant that a path names, with or without the key of the session.
    func participantPath(_ context: SignallingContext) throws -> (RoomName, String) {
        (
            try RoomName(context.parameters.require("room")),
            SessionNames.participant(in: try context.parameters.require("participant"))
        )
    }

    /// The room and the participant that a path names with the key of the session.
    func sessionPath(_ context: SignallingContext) throws -> (RoomName, String) {
        let room = try RoomName(context.parameters.require("room"))
        let name = try context.parameters.require("participant")
        return (room, try sessions.participant(ofSession: name, in: room))
    }

    private static func selfView(_ text: String) throws(Problem) -> SelfView {
        guard let selfView = SelfView(rawValue: text) else {
            let choices = SelfView.allCases.map(\.rawValue).joined(separator: " or ")
            throw Problem(.badRequest, "self-view is '\(text.prefix(32))'; use \(choices)")
        }
        return selfView
    }

    /// Returns true if a proxy passed the request on. The peer is then the proxy: the offer's addresses are not the
    /// peer's, and no media may go there before a packet from there has authenticated.
    private static func isForwarded(_ request: Request) -> Bool {
        ["Forwarded", "X-Forwarded-For"].contains { name in
            HTTPField.Name(name).map { request.headers.contains($0) } ?? false
        }
    }

    /// Refuses keys that crossed a network in the clear (RFC 4568, section 7.1): `a=crypto` over plain HTTP is taken
    /// from this machine only, a reverse proxy with TLS included.
    func checkKeyExchange(offer: String, peer: TransportAddress?) throws(Problem) {
        guard !isEncrypted, let peer, !peer.isLoopback, !isLocalAddress(peer) else { return }
        let carriesKeys = offer.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains {
            $0.starts(with: "a=crypto:".utf8)
        }
        guard !carriesKeys else {
            throw Problem(
                .forbidden,
                "the offer carries SRTP keys (a=crypto) over plain HTTP from another machine, where anyone on the way "
                    + "can read them: join by DTLS, serve HTTPS (--tls-certificate), or join from the relay's own machine"
            )
        }
    }
}

extension Problem {
    /// Makes the HTTP answer for a refused join, or another offer.
    init(_ error: JoinError) {
        let status: HTTPResponse.Status
        switch error {
        case .offer(let error):
            self.init(error)
            return
        case .overloaded(_, let seconds), .tooManyUnconnected(_, let seconds):
            self.init(.serviceUnavailable, error.description, headers: [.retryAfter: "\(seconds)"])
            return
        case .tooManyUnconnectedFromAddress(_, let seconds), .tooManyOffers(let seconds):
            self.init(.tooManyRequests, error.description, headers: [.retryAfter: "\(seconds)"])
            return
        case .noSuchParticipant: status = .notFound
        case .roomFull, .tooManyRooms, .draining, .closed, .resources: status = .serviceUnavailable
        }
        self.init(
            status, error.description, headers: status == .serviceUnavailable ? [.retryAfter: "5"] : [:])
    }
}

extension Problem {
    /// Makes the answer to a wrong session description, or part of one.
    init(_ error: SDPError) {
        let status: HTTPResponse.Status =
            switch error {
            case .tooLarge: .contentTooLarge
            case .malformed, .mismatchedAnswer: .badRequest
            // None of its media is possible (RFC 9725, section 4.4).
            case .unacceptable: .notAcceptable
            }
        self.init(status, error.description)
    }
}

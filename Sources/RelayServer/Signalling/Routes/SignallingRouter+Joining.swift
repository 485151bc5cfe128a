import Cluster
import Conference
import Foundation
import HTTPTypes
import Hummingbird
import RoomAPI
import SDP
import SecureTransport

/// Joining and leaving (RFC 9725, section 4.2).
extension SignallingRouter {
    func joining(_ endpoint: JoiningEndpoint) -> Handler {
        { [self] request, context in
            guard let tracer else { return try await join(at: endpoint, request, context).response }
            return try await tracer.trace(
                traceparent: request.headers[.traceparent], route: endpoint.route,
                room: context.parameters.require("room")
            ) {
                let (response, participant) = try await join(at: endpoint, request, context)
                return (response, response.status.code, participant)
            }
        }
    }

    /// Lets somebody in, or into the lobby, which makes no participant yet.
    private func join(
        at endpoint: JoiningEndpoint, _ request: Request, _ context: SignallingContext
    ) async throws -> (response: Response, participant: String?) {
        let room = try RoomName(context.parameters.require("room"))
        let query = try request.query(taking: Self.joinParameters)
        let name = try self.name(query["name"].map { String($0) }, of: context.caller)
        let selfView = try query["self-view"].map { try Self.selfView(String($0)) }
        // A name of before the relay was started again is no reason to refuse the join.
        let former = query["resume"].flatMap { try? sessions.participant(ofSession: String($0), in: room) }
        guard request.mediaType == SignallingMediaType.sdp else {
            throw Problem(
                .unsupportedMediaType, "the body must be an SDP offer: send Content-Type: application/sdp",
                headers: [.acceptPost: SignallingMediaType.sdp])
        }
        let grants = context.caller.grants
        let role = try Self.role(at: endpoint, with: grants)
        // The body may take long to come, and the room may move to another relay meanwhile.
        let offer = try await request.text()
        // Before the join goes to another relay: only this one knows how the offer came here.
        try checkKeyExchange(offer: offer, of: request, context)
        let (redirect, clusterJoin) = try await place(request, context, room: room, returning: former)
        if let redirect {
            guard let cluster, let proxy = cluster.joinProxy, let location = redirect.headers[.location] else {
                return (redirect, nil)
            }
            let answer = try await proxy.send(request, offer: offer, to: location, among: await cluster.relayURLs)
            return (answer, nil)
        }
        // Neither the offer's addresses of a client behind a proxy, nor those of a client on another site's page,
        // are the peer's: no media may go there before a packet from there has authenticated.
        // The first participant at a further relay is not the first of the room.
        let moderatorKey = access.isOpen && !clusterJoin.isFurther ? ModeratorKey() : nil
        let isDirect = !ClientDirectory.isForwarded(request.head) && !context.isFromOtherSite
        var wanted = JoinRequest(
            room: room.rawValue, name: name.rawValue, offer: offer, role: role, selfView: selfView,
            signallingPeer: isDirect ? context.peer : nil, client: context.client,
            returningAs: former ?? clusterJoin.rejoining?.id,
            grants: grants, newModeratorKey: moderatorKey.map { ModeratorKey.digest(of: $0.text) })
        wanted.claimsToReturn = query["resume"] != nil
        wanted.moderatorKey = request.headers[.moderatorKey].map(ModeratorKey.digest(of:))
        (wanted.rejoiningAs, wanted.rejoinKeyTime) = (clusterJoin.rejoining?.id, clusterJoin.rejoining?.keyTime)
        wanted.former = clusterJoin.former
        wanted.ticket = query["ticket"].flatMap { try? sessions.participant(ofSession: String($0), in: room) }
        let pin = request.headers[.roomPIN] ?? query["pin"].map { String($0) }
        wanted.inheritedConditions = await cluster?.inheritedConditions(of: room.rawValue)
        wanted.provenPIN = try await access.check(
            pin: pin, of: room, inherited: wanted.inheritedConditions?.pin, context)
        let admission = try access.admit(context.caller, returningAs: former)
        let joined: JoinResult
        do throws(JoinError) {
            joined = try await driver.join(wanted)
        } catch {
            admission.giveBack()
            if case .waits(let ticket) = error { return (try waits(ticket, in: room), nil) }
            throw Problem(error)
        }
        admission.take(participant: joined.participantID)
        let response = try await self.response(
            to: joined, at: endpoint, room: room, moderatorKey: moderatorKey, clusterJoin: clusterJoin)
        return (response, joined.participantID)
    }

    /// The response to a join that succeeded: the SDP answer, and the participant's URL and keys.
    private func response(
        to joined: JoinResult, at endpoint: JoiningEndpoint, room: RoomName, moderatorKey: ModeratorKey?,
        clusterJoin: ClusterJoin
    ) async throws -> Response {
        var response = Response.text(joined.answer, type: SignallingMediaType.sdp, status: .created)
        response.headers[.location] = endpoint.location(
            room: room, session: try sessions.name(of: joined.participantID, in: room))
        response.headers[.eTag] = joined.entityTag
        if joined.moderatesByKey { response.headers[.moderatorKey] = moderatorKey?.text }
        response.headers.append(servers(for: joined.participantID))
        if let cluster {
            await cluster.restoreSettings(of: room.rawValue)
            response.headers[.rejoinKey] = clusterJoin.secret?.rejoinKey(
                of: joined.participantID, in: room.rawValue, time: Date.now.timeIntervalSince1970)
            response.headers.append(alternates: clusterJoin.alternates)
        }
        return response
    }

    private static let joinParameters = [
        "name", "self-view", "resume", "pin", "ticket", ClusterQuery.rejoin, ClusterQuery.ticket,
    ]

    /// The name of a participant: the token's, or else the one that the client gives.
    private func name(_ wanted: String?, of caller: Caller) throws(Problem) -> ParticipantName {
        if let name = caller.claims?.name ?? wanted { return try ParticipantName(name) }
        return .guest
    }

    /// The role of a join at an endpoint with these grants.
    private static func role(at endpoint: JoiningEndpoint, with grants: MemberGrants) throws(Problem) -> ParticipantRole
    {
        let mayWatch = grants.permissions.contains(.watch)
        switch endpoint.role {
        case .publish where !grants.mayPublish: throw AccessControl.forbidden("your token does not let you publish")
        case .watch where !mayWatch: throw AccessControl.forbidden("your token does not let you watch")
        case .sendAndReceive where !mayWatch && !grants.mayPublish:
            throw AccessControl.forbidden("your token lets you neither publish nor watch")
        case .sendAndReceive where !grants.mayPublish: return .watch
        case .sendAndReceive where !mayWatch: return .publish
        case let role: return role
        }
    }

    func leave(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        guard await driver.leave(room: room.rawValue, participant: participant) else {
            throw Problem(.notFound, "there is no such participant in the room '\(room.rawValue)'")
        }
        return Response(status: .ok)
    }

    /// Shows a participant out: at their own wish, or a moderator's.
    func leaveOrRemove(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        let name = try context.parameters.require("participant")
        if (try? sessions.participant(ofSession: name, in: room)) != nil { return try await leave(request, context) }
        // A moderator, by Authorization.
        guard context.caller.may(.moderate) else {
            throw AccessControl.forbidden("only who joined, or a moderator, may end the session of \(participant)")
        }
        return try await remove(request, context)
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

    /// Refuses keys that crossed a network in the clear (RFC 4568, section 7.1): `a=crypto` over plain HTTP is taken
    /// from programs on this machine only, and from a proxy here that has TLS. Neither a page of another site nor the
    /// client of a proxy is here because the browser or the proxy is.
    func checkKeyExchange(offer: String, of request: Request, _ context: SignallingContext) throws(Problem) {
        guard !isEncrypted, let peer = context.peer else { return }
        let isHere = peer.isLoopback || isLocalAddress(peer)
        let isForwarded = ClientDirectory.isForwarded(request.head)
        guard
            !isHere || context.isFromOtherSite || (isForwarded && !ClientDirectory.isForwardedByTLS(request.head))
        else { return }
        let carriesKeys = offer.utf8.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).contains {
            $0.starts(with: "a=crypto:".utf8)
        }
        guard carriesKeys else { return }
        if isHere, isForwarded, !context.isFromOtherSite {
            throw Problem(
                .forbidden,
                "the offer carries SRTP keys (a=crypto) and came through a proxy that does not say that its client "
                    + "used TLS: join by DTLS, or have the proxy set X-Forwarded-Proto: https")
        }
        throw Problem(
            .forbidden,
            "the offer carries SRTP keys (a=crypto) over plain HTTP from another machine or another site's page, where "
                + "anyone on the way can read them: join by DTLS, serve HTTPS (--tls-certificate), or join from the "
                + "relay's own machine")
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
        case .overloaded(_, let seconds), .tooManyUnconnected(_, let seconds), .nobodyIsBack(let seconds):
            self.init(.serviceUnavailable, error.description, headers: [.retryAfter: "\(seconds)"])
            return
        case .tooManyUnconnectedFromAddress(_, let seconds), .tooManyOffers(let seconds):
            self.init(.tooManyRequests, error.description, headers: [.retryAfter: "\(seconds)"])
            return
        case .pinNeeded:
            // The scheme is ours: browsers ask nobody for a password.
            self.init(.unauthorized, error.description, headers: [.wwwAuthenticate: "PIN"])
            return
        case .keptOut, .locked, .mayNotShareScreen: status = .forbidden
        case .waits: status = .accepted
        case .lobbyFull: status = .serviceUnavailable
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

extension HTTPField.Name {
    /// The key with which a room's creator moderates it.
    static let moderatorKey = known("Moderator-Key")
    /// The PIN of a room that is joined.
    static let roomPIN = known("Room-PIN")
    /// The span that caused a request (W3C Trace Context).
    static let traceparent = known("traceparent")
}

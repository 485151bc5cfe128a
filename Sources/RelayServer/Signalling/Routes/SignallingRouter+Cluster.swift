import Cluster
import Conference
import Foundation
import HTTPTypes
import Hummingbird
import RoomAPI
import SecureTransport

/// Joins and requests in a cluster of relays.
extension SignallingRouter {
    /// The names of parameters of a join's query.
    enum ClusterQuery {
        /// A ticket of another relay of the cluster.
        static let ticket = "placement"
        /// The id and key of a session on another relay.
        static let rejoin = "rejoin"
    }

    /// What a join in a cluster brings and gets.
    struct ClusterJoin {
        /// The participant that the client was on another relay, and when its key was made (seconds since 1970).
        var rejoining: (id: String, keyTime: Double)?
        /// The knowledge of that participant at the relay that sent the client here.
        var former: CascadeState.Member?
        /// True if other relays have the room: this client does not begin it.
        var isFurther = false
        /// Relays to try if this one dies.
        var alternates: [String] = []
        var secret: ClusterSecret?
    }

    /// What a join brings from other relays of the cluster, as far as it is proved.
    private struct Credentials {
        var ticket: ClusterSecret.Ticket?
        var rejoining: (id: String, time: Double)?
        var secret: ClusterSecret?
        /// Seconds since 1970.
        var time: Double
    }

    /// Decides where a join goes.
    ///
    /// - Parameter returning: The participant of a session here whose key the client has.
    /// - Returns: The answer that sends the client to another relay, or how it joins here.
    func place(
        _ request: Request, _ context: SignallingContext, room: RoomName, returning: String?
    ) async throws -> (redirect: Response?, join: ClusterJoin) {
        guard let cluster else { return (nil, ClusterJoin()) }
        if let returning,
            await driver.act({ relay, now in relay.holdsPlace(of: returning, inRoom: room.rawValue, now: now) })
        {
            // It keeps its seat, whichever relay leads the room.
            let stay = await cluster.stay(inRoom: room.rawValue)
            let alternates = stay.alternates.map { "\($0)\(request.uri.path)" }
            return (
                nil, ClusterJoin(isFurther: stay.isFurther, alternates: alternates, secret: await cluster.secret)
            )
        }
        let credentials = await credentials(of: request, room: room, cluster)
        let placement = await cluster.place(
            room.rawValue, hops: credentials.ticket?.hops, isFurther: credentials.ticket?.isFurther ?? false,
            isRejoining: credentials.rejoining != nil)
        let alternates = placement.alternates.map { "\($0)\(request.uri.path)" }
        let target: (node: NodeID, url: String, isFurther: Bool?)
        switch placement.decision {
        case .here, .pending: return (nil, Self.join(with: credentials, alternates: alternates))
        case .refused(let reason):
            throw Problem(.serviceUnavailable, "\(reason); try again in a second", headers: [.retryAfter: "1"])
        case .elsewhere(let node, let url): target = (node, url, nil)
        case .further(let node, let url): target = (node, url, true)
        }
        let ticket = await ticket(
            to: target.node, isFurther: target.isFurther, for: context, room: room, credentials, cluster)
        guard let signed = credentials.secret?.sign(ticket) else {
            throw Problem(.serviceUnavailable, "the relay does not know its cluster yet", headers: [.retryAfter: "1"])
        }
        var response = Response.text("the room is at \(target.url)\n", status: .temporaryRedirect)
        response.headers[.location] = Self.location(target.url, request, adding: signed)
        // A place is for one client, and for now.
        response.headers[.cacheControl] = "no-store"
        response.headers.append(alternates: alternates)
        return (response, ClusterJoin())
    }

    private func credentials(of request: Request, room: RoomName, _ cluster: ClusterService) async -> Credentials {
        let query = request.uri.queryParameters
        var credentials = Credentials(secret: await cluster.secret, time: Date.now.timeIntervalSince1970)
        if let text = query[ClusterQuery.ticket[...]] {
            credentials.ticket = await cluster.ticket(String(text), room: room.rawValue)
        }
        credentials.rejoining = query[ClusterQuery.rejoin[...]].flatMap { text in
            credentials.secret?.participant(ofRejoinKey: String(text), in: room.rawValue)
        }
        return credentials
    }

    /// How a client joins here with what it brings.
    private static func join(with credentials: Credentials, alternates: [String]) -> ClusterJoin {
        let told = credentials.ticket?.former.flatMap { text in
            try? JSONDecoder().decode(CascadeState.Member.self, from: Data(text.utf8))
        }
        return ClusterJoin(
            // A ticket of another client's proves nothing about this one.
            rejoining: credentials.rejoining.map { ($0.id, $0.time) },
            former: told?.id == credentials.rejoining?.id ? told : nil,
            isFurther: credentials.ticket?.isFurther ?? false, alternates: alternates, secret: credentials.secret)
    }

    /// The ticket with which a client goes to another relay.
    private func ticket(
        to node: NodeID, isFurther: Bool?, for context: SignallingContext, room: RoomName, _ credentials: Credentials,
        _ cluster: ClusterService
    ) async -> ClusterSecret.Ticket {
        // Not longer than a token has them: a ticket takes no more.
        let claims = context.caller.claims.flatMap { try? JSONEncoder.compact.encode($0) }
        return ClusterSecret.Ticket(
            room: room.rawValue, node: node, expiry: credentials.time + ClusterSecret.ticketLifetime,
            hops: (credentials.ticket?.hops ?? 0) + 1, grant: claims.map { String(decoding: $0, as: UTF8.self) },
            former: await telling(of: credentials.rejoining?.id, in: room) ?? credentials.ticket?.former,
            isFurther: isFurther, client: cluster.joinProxy == nil ? nil : context.client?.host)
    }

    /// This relay's knowledge of the participant that a client was, for a ticket; nil: none.
    private func telling(of former: String?, in room: RoomName) async -> String? {
        guard let former,
            var member = await driver.ask({ $0.memberState(former, inRoom: room.rawValue) })
        else { return nil }
        // The join brings its own, and tickets are short.
        (member.name, member.avatar) = ("", nil)
        guard let text = Self.text(of: member) else { return nil }
        guard text.utf8.count > ClusterSecret.maximumFormerSize else { return text }
        // What moderators have done to the member matters more than the layout.
        member.layout = nil
        return Self.text(of: member)
    }

    private static func text(of member: CascadeState.Member) -> String? {
        (try? JSONEncoder.compact.encode(member)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The same request at another relay, with another ticket.
    private static func location(_ url: String, _ request: Request, adding ticket: String?) -> String {
        let own = "\(ClusterQuery.ticket)="
        var query = (request.uri.query ?? "").split(separator: "&").filter { !$0.hasPrefix(own) }.map(String.init)
        if let ticket { query.append("\(own)\(ticket)") }
        return "\(url)\(request.uri.path)" + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }

    /// Sends a request about a room to the relay that has it; nil: this one answers.
    ///
    /// - Throws: Why the caller may not ask for this. Whether there is such a room, and where, is not for everybody.
    func sendOn(
        _ request: Request, _ context: SignallingContext, room: RoomName, requirement: Requirement
    ) async throws(Problem) -> Response? {
        guard let cluster, requirement != .join else { return nil }
        // The page is the same everywhere.
        if case .needsUnlessPage = requirement, AcceptedTypes(request.headers[.accept]).prefersHTML { return nil }
        let isOfLobby = request.uri.path.hasPrefix("/rooms/\(room.rawValue)/lobby")
        guard let url = await cluster.otherOwner(of: room.rawValue, isOfLobby: isOfLobby) else { return nil }
        guard try await mayBeSentOn(request, context, room: room, requirement: requirement) else { return nil }
        var response = Response.text("the room is at \(url)\n", status: .temporaryRedirect)
        response.headers[.location] = Self.location(url, request, adding: nil)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Returns true if the sender of a request may learn which relay has a room.
    private func mayBeSentOn(
        _ request: Request, _ context: SignallingContext, room: RoomName, requirement: Requirement
    ) async throws(Problem) -> Bool {
        guard !access.isOpen else { return true }
        switch requirement {
        case .ownSession, .ownTicket:
            // Only the relay that made such a key can check it. A client that may join shows its token, too.
            guard request.headers.contains(.authorization) else { return false }
            return (try? await access.check(.join, request, context, room: room, session: nil)) != nil
        default:
            _ = try await access.check(
                requirement, request, context, room: room, session: context.parameters.get("participant"))
            return true
        }
    }

    /// What another relay has found out about the bearer of a ticket: redirects may drop `Authorization`.
    func claims(ofTicketIn request: Request, room: RoomName?) async -> AccessClaims? {
        guard let cluster, let room, let text = request.uri.queryParameters[ClusterQuery.ticket[...]],
            let ticket = await cluster.ticket(String(text), room: room.rawValue)
        else { return nil }
        return ticket.grant.flatMap { try? JSONDecoder().decode(AccessClaims.self, from: Data($0.utf8)) }
    }

    // MARK: Draining

    private struct DrainState: Encodable {
        var draining: Bool
        var participants: Int
    }

    /// Takes no more joins; in a cluster new ones go to other relays.
    func beginDraining(_ request: Request, _ context: SignallingContext) async throws -> Response {
        await cluster?.setDraining(true)
        return try .json(DrainState(draining: true, participants: await driver.beginDraining(isMoving: cluster != nil)))
    }

    /// Takes joins again.
    func endDraining(_ request: Request, _ context: SignallingContext) async throws -> Response {
        guard let participants = await driver.endDraining() else {
            throw Problem(.conflict, "the relay was told to end, which is not undone")
        }
        await cluster?.setDraining(false)
        return try .json(DrainState(draining: false, participants: participants))
    }
}

extension ClusterService {
    /// Returns true if a relay of the cluster has sent a join here: it has checked the page that the join is from.
    func hasSentOn(_ request: Request) -> Bool {
        // The paths of joins are /rooms/{room}/participants, /whip/{room} and /whep/{room}.
        let path = request.uri.path.split(separator: "/")
        guard path.count > 1, let room = path[1].removingPercentEncoding,
            let text = request.uri.queryParameters[SignallingRouter.ClusterQuery.ticket[...]]
        else { return false }
        let time = Date.now.timeIntervalSince1970
        return secret?.ticket(String(text), node: node, room: room, time: time) != nil
    }
}

extension HTTPFields {
    /// Adds a `Link` field for each relay at which a client may try instead.
    mutating func append(alternates: [String]) {
        for url in alternates { append(HTTPField(name: .link, value: "<\(url)>; rel=\"alternate\"")) }
    }
}

extension HTTPField.Name {
    /// The id and key by which a client is the same participant on another relay of the cluster.
    static let rejoinKey = known("Rejoin-Key")
}

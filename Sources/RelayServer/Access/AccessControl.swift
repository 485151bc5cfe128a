import Conference
import Foundation
import HTTPTypes
import Hummingbird
import MediaCore
import RoomAPI
import RoomMedia
import SecureTransport
import Synchronization

/// Decides the permissions of callers: by tokens if the operator has keys, by the key of a session or of a room's
/// creator everywhere.
struct AccessControl: Sendable {
    /// The keys that check tokens; nil: the relay is open.
    let keys: KeyStore?
    let driver: RelayDriver
    let sessions: SessionNames
    let quotas: RequestQuotas
    private let pins = RoomPIN()
    var now: @Sendable () -> MonotonicInstant = { .now() }
    /// Seconds since 1970.
    var time: @Sendable () -> Double = { Date.now.timeIntervalSince1970 }
    var spent = SpentTokens()

    /// The largest error of the clocks of token makers.
    private static let leeway = 5.0
    private static let aboutAllRooms =
        "this is about all rooms: it takes a token whose room is *, or the relay's own --admin-address"

    /// Checks what a request takes.
    ///
    /// - Parameters:
    ///   - room: The room of the path, if any.
    ///   - session: What the path says after `participants/`, if anything.
    /// - Returns: Who asks.
    /// - Throws: A problem with 401 where a proof is missing or no good, 403 where it does not allow this.
    func check(
        _ requirement: Requirement, _ request: Request, _ context: SignallingContext, room: RoomName?, session: String?
    ) async throws(Problem) -> Caller {
        switch requirement {
        case .none, .ownSession, .ownTicket, .relaySignature: return .anonymous
        case .join:
            let caller = try await caller(of: request, context, room: room, for: nil)
            // A member's key says who acts in the room, not who may come in: its grants may be less than a presenter's.
            if !isOpen, case .session = caller.proof {
                throw Self.forbidden("a session's key lets nobody join: \(ProblemDetails.proofInstruction) a token")
            }
            return caller
        case .needs(let permission):
            return try await check(permission, request, context, room: room)
        case .needsUnlessPage(let permission):
            if AcceptedTypes(request.headers[.accept]).prefersHTML { return .anonymous }
            return try await check(permission, request, context, room: room)
        case .needsEverywhere(let permission):
            let caller = try await check(permission, request, context, room: nil)
            if let claims = caller.claims, !claims.isForAllRooms { throw Self.forbidden(Self.aboutAllRooms) }
            return caller
        case .ownSessionOr(let permission):
            // The key of a relay that was started again since is none; the id is then enough, with the permission.
            if let session, let room, let participant = try? sessions.participant(ofSession: session, in: room) {
                return Caller(proof: .session(participant: participant), permissions: [permission])
            }
            return try await check(permission, request, context, room: room)
        }
    }

    private func check(
        _ permission: Permission, _ request: Request, _ context: SignallingContext, room: RoomName?
    ) async throws(Problem) -> Caller {
        let caller = try await caller(of: request, context, room: room, for: permission)
        guard caller.may(permission) else {
            if caller.proof == .nothing {
                throw Self.forbidden(
                    room == nil
                        ? Self.aboutAllRooms
                        : "this takes a moderator: \(ProblemDetails.proofInstruction) the moderator's key")
            }
            throw Self.forbidden("this takes the permission '\(permission.rawValue)', which yours does not have")
        }
        if let room, await isKeptOut(caller, of: room, client: context.client) { throw Problem(JoinError.keptOut) }
        return caller
    }

    /// True if a moderator removed the bearer of the caller's token from a room. Moderators are never kept out, and the
    /// key of a session ends with the session.
    func isKeptOut(_ caller: Caller, of room: RoomName, client: TransportAddress?) async -> Bool {
        guard caller.claims != nil, !caller.may(.moderate) else { return false }
        return await driver.ask { $0.keepsOut(caller.grants, client: client, ofRoom: room.rawValue) }
    }

    /// True if a caller who was let in may read no more of a room: a moderator removed the bearer of the token, the
    /// session is over, or the room has a PIN now, and the caller has shown no key.
    func isOut(_ caller: Caller, of room: RoomName, client: TransportAddress?) async -> Bool {
        switch caller.proof {
        case .session(let participant):
            return await driver.access(ofRoom: room.rawValue, participant: participant)?.member == nil
        case .nothing: return await driver.access(ofRoom: room.rawValue)?.pin != nil
        case .token, .moderatorKey: return await isKeptOut(caller, of: room, client: client)
        }
    }

    /// The sender of a request, by `Authorization: Bearer` with a token, a session's name and key, or a moderator key.
    ///
    /// - Parameter permission: The permission that is needed; nil: the request is a join.
    private func caller(
        of request: Request, _ context: SignallingContext, room: RoomName?, for permission: Permission?
    ) async throws(Problem) -> Caller {
        guard let bearer = try bearer(of: request) else {
            guard isOpen else {
                throw Self.unauthorized(
                    "this relay takes a token: \(ProblemDetails.proofInstruction) one for this room", nil)
            }
            // A join brings the PIN itself.
            if let room, let permission, let access = await driver.access(ofRoom: room.rawValue) {
                let proof = "\(ProblemDetails.proofInstruction) your session's key"
                if access.pin != nil { throw Self.unauthorized("the room has a PIN: \(proof)", nil) }
                // Those who watch only the stream are outside the room, and a lock or a lobby does not concern them.
                if access.hasLockOrLobby, permission != .watch {
                    throw Self.unauthorized("the room has a lock or a lobby: \(proof)", nil)
                }
            }
            return .anonymous
        }
        if let subject = context.quotaSubject,
            let seconds = quotas.secondsToWait(.wrongProof, of: subject, now: now())
        {
            throw Problem.tooManyRequests(.wrongProof, retryAfter: seconds)
        }
        do throws(Problem) {
            return try await proven(by: bearer, room: room)
        } catch {
            if error.status == .unauthorized, let subject = context.quotaSubject {
                _ = quotas.take(.wrongProof, of: subject, now: now())
            }
            throw error
        }
    }

    private func proven(by bearer: String, room: RoomName?) async throws(Problem) -> Caller {
        // A token has two points, a session's name one, a moderator's key none.
        let points = bearer.utf8.count(where: { $0 == UInt8(ascii: ".") })
        if points == 2 { return try await tokenCaller(bearer, room: room) }
        guard Self.isKey(bearer) else {
            throw Self.unauthorized(
                "this is no token, and no key of a session or of a room: send all of it", "invalid_token")
        }
        // Keys are of one room: without it nothing shows if this is one.
        guard let room else { throw Self.unauthorized(Self.aboutAllRooms, "invalid_token") }
        return points == 1
            ? try await sessionCaller(bearer, room: room) : try await moderator(by: bearer, room: room)
    }

    func tokenCaller(_ token: String, room: RoomName?) async throws(Problem) -> Caller {
        guard let claims = await keys?.current.claims(of: token) else {
            throw Self.unauthorized("the token is not signed by a key of this relay, or is malformed", "invalid_token")
        }
        if let room, !claims.covers(room: room.rawValue) {
            throw Self.forbidden("the token is for another room")
        }
        return try caller(with: claims)
    }

    /// The caller with these claims, which the caller has proved.
    func caller(with claims: AccessClaims) throws(Problem) -> Caller {
        if let expiry = claims.expiry, time() >= expiry + Self.leeway {
            throw Self.unauthorized("the token has expired", "invalid_token")
        }
        if let notBefore = claims.notBefore, time() < notBefore - Self.leeway {
            throw Self.unauthorized("the token is not good yet", "invalid_token")
        }
        var claims = claims
        // Those whom a token does not name are not one person, whom a ban keeps out, or who comes back.
        if claims.identity?.isEmpty == true { claims.identity = nil }
        if claims.name?.isEmpty == true { claims.name = nil }
        return Caller(proof: .token(claims), permissions: claims.permissions, name: claims.name ?? claims.identity)
    }

    private func sessionCaller(_ bearer: String, room: RoomName) async throws(Problem) -> Caller {
        guard let participant = try? sessions.participant(ofSession: bearer, in: room) else {
            throw Self.unauthorized(
                "the session's key is wrong, or for another room or relay: use it at the relay of your join's Location",
                "invalid_token")
        }
        guard let member = await driver.access(ofRoom: room.rawValue, participant: participant)?.member else {
            throw Self.unauthorized("the session is over: join anew", "invalid_token")
        }
        // On an open relay a proof takes nothing away that everybody may do.
        let open: Set<Permission> = isOpen ? [.inspect, .record] : []
        return Caller(
            proof: .session(participant: participant), permissions: member.grants.permissions.union(open),
            name: member.name)
    }

    private func moderator(by key: String, room: RoomName) async throws(Problem) -> Caller {
        guard let digest = await driver.access(ofRoom: room.rawValue)?.moderatorKey,
            SecretComparison.areEqual(ModeratorKey.digest(of: key), digest)
        else {
            throw Self.unauthorized("the key is wrong, or of a room that has ended", "invalid_token")
        }
        return Caller(proof: .moderatorKey, permissions: AccessRole.moderator.permissions)
    }

    /// True if no keys are configured.
    var isOpen: Bool { keys == nil }

    // MARK: PINs

    /// The verifier of a room's new PIN. New ones are counted, for the client and for the room.
    func record(
        ofNewPIN pin: String, of room: RoomName, _ context: SignallingContext
    ) async throws(Problem) -> [UInt8] {
        for subject in [context.quotaSubject, .room(room.rawValue)].compactMap(\.self) {
            try quotas.admit(.newPIN, of: subject, now: now())
        }
        return try await pins.record(of: pin)
    }

    /// The verifier of a room's PIN, which is the one that was given; nil: none was given, or the room has none. Wrong
    /// ones are counted, for the client and for the room.
    ///
    /// - Parameter inherited: The verifier of a room that is not here yet, from the relay that had it before.
    func check(
        pin: String?, of room: RoomName, inherited: [UInt8]?, _ context: SignallingContext
    ) async throws(Problem) -> [UInt8]? {
        guard let pin else { return nil }
        let present = await driver.access(ofRoom: room.rawValue)
        guard let record = present == nil ? inherited : present?.pin else { return nil }
        // The client first: what it tries in vain is not to use up the tries of all others.
        var counted: [(RequestQuotas.Kind, RequestQuotas.Subject)] = []
        if let client = context.quotaSubject { counted.append((.wrongSecret, client)) }
        counted.append((.wrongPIN, .room(room.rawValue)))
        guard try await pins.matches(pin, record: record, counting: counted, in: quotas, now: now) else {
            throw Problem(.unauthorized, "the PIN is wrong", headers: [.wwwAuthenticate: "PIN"])
        }
        return record
    }

    // MARK: Single use

    /// Uses up a token for a single use, before its bearer joins.
    ///
    /// - Parameter former: The participant that the same client was until now, as it has proved. It may join again with
    ///   the token by which it joined.
    func admit(_ caller: Caller, returningAs former: String?) throws(Problem) -> Admission {
        guard let claims = caller.claims, claims.isSingleUse == true else { return Admission() }
        guard let id = claims.id, let expiry = claims.expiry else {
            throw Self.unauthorized("a token for a single use must have jti and exp", "invalid_token")
        }
        switch spent.spend(id, expiry: expiry + Self.leeway, returningAs: former, time: time()) {
        case nil: return Admission(spent: spent, token: id)
        case .spent: throw Self.unauthorized("the token was for a single use, and was used", "invalid_token")
        case .full:
            throw Problem(
                .serviceUnavailable, "too many tokens for a single use are remembered; try again later",
                headers: [.retryAfter: "60"])
        }
    }

    /// A join that a token for a single use may have been spent on.
    struct Admission {
        fileprivate var spent: SpentTokens?
        fileprivate var token = ""

        /// The join came about.
        func take(participant: String) { spent?.setParticipant(participant, of: token) }

        /// The join did not come about: the token is as it was.
        func giveBack() { spent?.giveBack(token) }
    }

    /// The token or key of a request. Many WHIP clients always send a token. An open relay cannot check tokens, so it
    /// takes only values that have the form of its own keys, and ignores all others.
    private func bearer(of request: Request) throws(Problem) -> String? {
        guard let field = request.headers[.authorization] else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            guard !isOpen else { return nil }
            throw Self.unauthorized("send Authorization: Bearer and a token", "invalid_request")
        }
        let bearer = parts[1].filter { !$0.isWhitespace }
        return isOpen && !Self.isKey(bearer) ? nil : bearer
    }

    /// True if a text has the form of a key that relays hand out.
    private static func isKey(_ text: String) -> Bool {
        ModeratorKey.isPlausible(text) || SessionNames.isPlausible(text)
    }

    static func unauthorized(_ detail: String, _ error: String?) -> Problem {
        // RFC 6750, section 3.
        let challenge = "Bearer realm=\"confrelay\"" + (error.map { ", error=\"\($0)\"" } ?? "")
        return Problem(.unauthorized, detail, headers: [.wwwAuthenticate: challenge])
    }

    static func forbidden(_ detail: String) -> Problem { Problem(.forbidden, detail) }
}

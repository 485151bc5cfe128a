import Conference
import HTTPTypes
import Hummingbird
import RoomAPI

/// The routes of moderation and of the lobby.
extension SignallingRouter {
    var moderationRoutes: [Route] {
        [
            Route(
                "/rooms/:room/participants/:participant/moderation",
                [.init(.put, .needs(.moderate), moderateMember)]),
            Route("/rooms/:room/spotlight", [.init(.put, .needs(.moderate), setSpotlight)]),
            Route("/rooms/:room/hands", [.init(.delete, .needs(.moderate), lowerHands)]),
            Route("/rooms/:room/entry", [.init(.put, .needs(.moderate), setEntry)]),
            Route("/rooms/:room/lobby", [.init(.get, .needs(.moderate), lobby)]),
            Route(
                "/rooms/:room/lobby/:ticket",
                [
                    .init(.get, .ownTicket, lobbyState), .init(.put, .needs(.moderate), answerWaiting),
                    .init(.delete, .ownTicket, leaveLobby),
                ]),
        ]
    }

    private static let memberExample = #"{"microphone":"muted"} or {"role":"presenter"}"#
    private static let entryExample = #"{"locked":true} or {"lobby":true,"pin":"271828"}"#

    func moderateMember(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        let wanted = try await request.json(MemberModeration.self, example: Self.memberExample)
        if let role = wanted.role,
            let lacking = Permission.allCases.first(where: {
                $0.isPower && role.permissions.contains($0) && !context.caller.may($0)
            })
        {
            throw AccessControl.forbidden(
                "a \(role.rawValue) has the permission '\(lacking.rawValue)', which yours does not have")
        }
        return try await moderate(.member(wanted, participant: participant), in: room, context)
    }

    func remove(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        let mayReturn = try request.query(taking: ["may-return"])["may-return"] ?? "false"
        guard ["true", "false"].contains(mayReturn) else {
            throw Problem(.badRequest, "may-return is '\(ShownName.made(of: String(mayReturn)))'; use true or false")
        }
        return try await moderate(.remove(participant: participant, keepOut: mayReturn == "false"), in: room, context)
    }

    func setSpotlight(_ request: Request, _ context: SignallingContext) async throws -> Response {
        struct Spotlight: Decodable {
            var participant: String?
        }
        let room = try RoomName(context.parameters.require("room"))
        let wanted = try await request.json(Spotlight.self, example: #"{"participant":"k3v9"}"#)
        return try await moderate(.spotlight(participant: wanted.participant), in: room, context)
    }

    func lowerHands(_ request: Request, _ context: SignallingContext) async throws -> Response {
        try await moderate(.lowerHands, in: RoomName(context.parameters.require("room")), context)
    }

    func endRoom(_ request: Request, _ context: SignallingContext) async throws -> Response {
        try await moderate(.end, in: RoomName(context.parameters.require("room")), context)
    }

    func setEntry(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let wanted = try await request.json(RoomEntry.self, example: Self.entryExample)
        var record: [UInt8]?
        if let pin = wanted.pin {
            record = pin.isEmpty ? [] : try await access.record(ofNewPIN: pin, of: room, context)
        }
        return try await moderate(
            .setEntry(locked: wanted.locked, lobby: wanted.lobby, pin: record), in: room, context)
    }

    // MARK: The lobby

    func lobby(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        guard let waiting = await driver.ask({ $0.waiting(inRoom: room.rawValue) }) else { throw Problem.noRoom(room) }
        return try .json(["waiting": waiting])
    }

    func answerWaiting(_ request: Request, _ context: SignallingContext) async throws -> Response {
        struct Answer: Decodable {
            var admit: Bool
        }
        let room = try RoomName(context.parameters.require("room"))
        let id = SessionNames.participant(in: try context.parameters.require("ticket"))
        let answer = try await request.json(Answer.self, example: #"{"admit":true}"#)
        return try await moderate(.answer(waiting: id, isAdmitted: answer.admit), in: room, context)
    }

    /// Answers a person in the lobby with the outcome.
    func lobbyState(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let ticket = try sessions.participant(ofSession: try context.parameters.require("ticket"), in: room)
        let outcome = await driver.act { relay, now in relay.lobbyState(of: ticket, room: room.rawValue, now: now) }
        guard let state = outcome else { throw Self.waitsNoLonger }
        var response = try Response.json(["state": state])
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Takes a person out of the lobby who does not want to wait any more.
    func leaveLobby(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let ticket = try sessions.participant(ofSession: try context.parameters.require("ticket"), in: room)
        guard await driver.act({ relay, _ in relay.leaveLobby(ticket, room: room.rawValue) }) else {
            throw Self.waitsNoLonger
        }
        return Response(status: .noContent)
    }

    private static var waitsNoLonger: Problem {
        Problem(.notFound, "you do not wait in this room's lobby any more: join again")
    }

    /// The answer to a client that has to wait in the lobby: the URL to ask at, and the interval.
    func waits(_ ticket: String, in room: RoomName) throws -> Response {
        var response = try Response.json(["state": LobbyState.waiting], status: .accepted)
        response.headers[.location] = "/rooms/\(room.rawValue)/lobby/\(try sessions.name(of: ticket, in: room))"
        response.headers[.retryAfter] = "2"
        return response
    }

    private func moderate(
        _ moderation: RoomCommand.Moderation, in room: RoomName, _ context: SignallingContext
    ) async throws -> Response {
        var actor = RoomActor(name: context.caller.name ?? "a moderator")
        if case .session(let participant) = context.caller.proof { actor.participant = participant }
        return try await perform(.moderate(moderation, by: actor), in: room)
    }
}

extension Permission {
    /// True if the permission gives power over other members or over what they do: a moderator gives it to others only
    /// with the permission. A moderator who is not seen or heard may still let others be seen and heard.
    fileprivate var isPower: Bool {
        switch self {
        case .watch, .microphone, .camera, .screen: false
        case .arrange, .moderate, .record, .inspect: true
        }
    }
}

import Conference
import HTTPTypes
import Hummingbird
import MediaCore
import RoomAPI
import RoomMedia

/// Films and streams that are members of rooms.
extension SignallingRouter {
    private static let playerExample = #"{"url":"talk.mp4","name":"Talk","loop":true}"#
    private static let playerChangeExample = #"{"paused":true}"#

    var playerRoutes: [Route] {
        [
            Route(
                "/rooms/:room/players",
                [.init(.get, .needs(.arrange), roomPlayers), .init(.post, .needs(.arrange), startPlayer)]),
            Route(
                "/rooms/:room/players/:player",
                [
                    .init(.get, .needs(.arrange), player), .init(.put, .needs(.arrange), changePlayer),
                    .init(.delete, .needs(.arrange), endPlayer),
                ]),
        ]
    }

    func startPlayer(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let rules = try permittedPlayers()
        let room = try RoomName(context.parameters.require("room"))
        let wanted = try await request.json(PlayerRequest.self, example: Self.playerExample)
        let target: PlayerTarget
        do throws(PlayerTarget.ParseError) {
            target = try PlayerTarget(parsing: wanted.url)
        } catch {
            throw Problem(
                .unprocessableContent, error.description,
                errors: [Problem.Mistake(path: "url", reason: error.description)])
        }
        if let refusal = rules.refusal(of: target) { throw Problem(.forbidden, refusal) }
        guard wanted.position == nil || !target.isLive else {
            throw Problem(.conflict, "this cannot be played from another place: it is live")
        }
        let player = try await driver.startPlayer(
            room: room.rawValue, name: wanted.name ?? target.name, target, wanted.settings,
            place: .seconds(clamping: wanted.position ?? 0))
        var response = try Response.json(player, status: .created)
        response.headers[.location] = "/rooms/\(room.rawValue)/players/\(player.id)"
        return response
    }

    func roomPlayers(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try permittedPlayers()
        let room = try RoomName(context.parameters.require("room"))
        guard let players = await driver.players(ofRoom: room.rawValue) else { throw Problem.noRoom(room) }
        return try .json(PlayerList(players))
    }

    func player(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, id) = try playerPath(context)
        guard let player = await driver.player(id, ofRoom: room.rawValue) else {
            throw Problem(
                .notFound, "the room has no player '\(id)'; GET /rooms/\(room.rawValue)/players lists them")
        }
        return try .json(player)
    }

    func changePlayer(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, id) = try playerPath(context)
        let change = try await request.json(PlayerChange.self, example: Self.playerChangeExample)
        try await driver.changePlayer(id, ofRoom: room.rawValue, change)
        return Response(status: .noContent)
    }

    func endPlayer(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, id) = try playerPath(context)
        return try await perform(.endPlayer(id: id, reason: .stopped), in: room)
    }

    private func playerPath(_ context: SignallingContext) throws -> (room: RoomName, id: String) {
        _ = try permittedPlayers()
        return (
            try RoomName(context.parameters.require("room")), try context.parameters.require("player")
        )
    }

    private func permittedPlayers() throws(Problem) -> PlayerRules {
        guard let playerRules else {
            throw Problem(
                .forbidden,
                "this relay plays no films or streams; its operator can permit a folder with --player-files DIR, and "
                    + "hosts with --players-from HOST")
        }
        return playerRules
    }
}

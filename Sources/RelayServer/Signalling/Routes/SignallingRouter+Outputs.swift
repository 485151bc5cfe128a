import Conference
import HTTPTypes
import Hummingbird
import RoomAPI
import RoomMedia

/// Rooms that are sent to RTMP and SRT servers.
extension SignallingRouter {
    private static let outputExample =
        #"{"url":"rtmp://live.example.org/app/key","name":"Example","layout":"speaker","size":"1280x720"}"#

    var outputRoutes: [Route] {
        [
            Route(
                "/rooms/:room/outputs",
                [.init(.get, .needs(.record), roomOutputs), .init(.post, .needs(.record), startOutput)]),
            Route(
                "/rooms/:room/outputs/:output",
                [.init(.get, .needs(.record), output), .init(.delete, .needs(.record), endOutput)]),
        ]
    }

    func startOutput(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let rules = try permittedOutputs()
        let room = try RoomName(context.parameters.require("room"))
        let wanted = try await request.json(OutputRequest.self, example: Self.outputExample)
        let target: StreamServer
        do throws(StreamServer.ParseError) {
            target = try StreamServer(parsing: wanted.url)
        } catch {
            throw Problem(
                .unprocessableContent, error.description,
                errors: [Problem.Mistake(path: "url", reason: error.description)])
        }
        guard rules.mayPermit(host: target.address.host) else {
            throw Problem(
                .forbidden,
                "this relay sends nothing to the host of \(target.shown); its operator can permit it with --outputs-to")
        }
        let output = try await driver.startOutput(
            room: room.rawValue, name: wanted.name, target, wanted.composite)
        var response = try Response.json(output, status: .created)
        response.headers[.location] = "/rooms/\(room.rawValue)/outputs/\(output.id)"
        return response
    }

    func roomOutputs(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try permittedOutputs()
        let room = try RoomName(context.parameters.require("room"))
        guard let outputs = await driver.outputs(ofRoom: room.rawValue) else { throw Problem.noRoom(room) }
        return try .json(OutputList(outputs))
    }

    func output(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try permittedOutputs()
        let room = try RoomName(context.parameters.require("room"))
        let id = try context.parameters.require("output")
        guard let output = await driver.output(id, ofRoom: room.rawValue) else {
            throw Problem(
                .notFound, "the room has no output '\(id)'; GET /rooms/\(room.rawValue)/outputs lists them")
        }
        return try .json(output)
    }

    func endOutput(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try permittedOutputs()
        let room = try RoomName(context.parameters.require("room"))
        return try await perform(
            .endOutput(id: context.parameters.require("output"), reason: .stopped), in: room)
    }

    private func permittedOutputs() throws(Problem) -> HostRules {
        guard let outputRules else {
            throw Problem(
                .forbidden, "this relay sends rooms nowhere; its operator can permit hosts with --outputs-to HOST")
        }
        return outputRules
    }
}

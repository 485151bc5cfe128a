import Conference
import HTTPTypes
import Hummingbird

/// What the relay tells of itself.
extension SignallingRouter {
    func roomList(_ request: Request, _ context: SignallingContext) async throws -> Response {
        struct Summary: Encodable {
            var id: String
            var participantCount: Int
        }
        let rooms = await driver.rooms().map { Summary(id: $0.id, participantCount: $0.participants.count) }
        return try .json(["rooms": rooms])
    }

    /// The room as data; to browsers, which ask for HTML, the page from which it is joined.
    func room(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var response: Response
        if AcceptedTypes(request.headers[.accept]).prefersHTML {
            _ = try RoomName(context.parameters.require("room"))
            response = try await page(request, context)
        } else {
            response = try await .json(findRoom(context))
        }
        response.headers[.vary] = "Accept"
        return response
    }

    func participant(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try await findRoom(context)
        let id = SessionNames.participant(in: try context.parameters.require("participant"))
        guard let participant = room.participants.first(where: { $0.id == id }) else {
            throw Problem(.notFound, "there is no such participant in the room '\(room.id)'")
        }
        return try .json(participant)
    }

    func findRoom(_ context: SignallingContext) async throws -> RoomSnapshot {
        let name = try RoomName(context.parameters.require("room"))
        guard let room = await driver.room(name.rawValue) else {
            throw Problem.noRoom(name)
        }
        return room
    }

    func readiness(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let report = await driver.report()
        let readiness = Readiness(report)
        var response = try Response.json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
        if let seconds = readiness.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    func metrics(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var report = await driver.report()
        report.kernelDrops = KernelDropCounter(port: mediaPort).read()
        return .text(report.prometheusText(), type: PrometheusText.contentType)
    }
}

import Conference
import HTTPTypes
import Hummingbird
import NIOCore
import RoomAPI
import SecureTransport

/// The relay's state, health and metrics.
extension SignallingRouter {
    func roomList(_ request: Request, _ context: SignallingContext) async throws -> Response {
        struct Summary: Encodable {
            var id: String
            var participantCount: Int
        }
        let report = try await driver.snapshots.report()
        return try .json(
            encoded: report.document("rooms") { report in
                let rooms = report.relay.rooms.map { Summary(id: $0.id, participantCount: $0.participants.count) }
                return try Response.encode(["rooms": rooms])
            })
    }

    /// The room as data; to browsers, which ask for HTML, the page from which it is joined.
    func room(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var response: Response
        if AcceptedTypes(request.headers[.accept]).prefersHTML {
            _ = try RoomName(context.parameters.require("room"))
            response = try await page(request, context)
        } else {
            let (report, room) = try await findRoom(context)
            response = try .json(encoded: report.document("room \(room.id)") { _ in try Response.encode(room) })
        }
        response.headers[.vary] = "Accept"
        return response
    }

    func participant(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (report, room) = try await findRoom(context)
        let id = SessionNames.participant(in: try context.parameters.require("participant"))
        guard let participant = room.participants.first(where: { $0.id == id }) else {
            // There are no figures of a member whom others do not see. The member may ask whether the session goes on.
            if context.caller.proof == .session(participant: id),
                await driver.access(ofRoom: room.id, participant: id)?.member?.grants.isHidden ?? false
            {
                return Response(status: .noContent)
            }
            throw Problem(.notFound, "there is no such participant in the room '\(room.id)'")
        }
        return try .json(
            encoded: report.document("participant \(room.id) \(id)") { _ in try Response.encode(participant) })
    }

    /// The room that a path names, and the snapshot that it is of.
    func findRoom(_ context: SignallingContext) async throws -> (SnapshotDocuments<ServerReport>, RoomSnapshot) {
        let name = try RoomName(context.parameters.require("room"))
        let report = try await driver.snapshots.report()
        guard let room = report.snapshot.room(name.rawValue) else { throw Problem.noRoom(name) }
        return (report, room)
    }

    func health(_ request: Request, _ context: SignallingContext) async throws -> Response { .text("ok\n") }

    func readiness(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let readiness = Readiness(try await driver.snapshots.report().snapshot)
        var response = try Response.json(readiness, status: readiness.ready ? .ok : .serviceUnavailable)
        if let seconds = readiness.retryAfter { response.headers[.retryAfter] = "\(seconds)" }
        response.headers[.cacheControl] = "no-store"
        return response
    }

    func metrics(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let clusterReport = await cluster?.makeReport()
        let text = try await driver.snapshots.report().document("metrics") { report in
            var report = report
            report.kernelDrops = KernelDropCounter(port: mediaPort).read()
            report.webhooks = events?.counters
            report.cluster = clusterReport
            report.certificateEnd = certificates?.context.notAfter
            report.connectionsRefused = connections?.refusedCount ?? 0
            return ByteBuffer(string: report.prometheusText())
        }
        return .text(encoded: text, type: PrometheusText.contentType)
    }
}

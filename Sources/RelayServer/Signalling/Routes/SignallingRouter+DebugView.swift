import Conference
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The last minute of a room: as a live page, as a drawing, and as data.
extension SignallingRouter {
    /// The forms, in the order of preference for clients that accept anything.
    private enum DebugView: String, CaseIterable {
        case page = "text/html"
        case drawing = "image/svg+xml"
        case data = "application/json"
    }

    /// A drawing that is opened by itself has its own style inside, and nothing else happens in it.
    static let drawingSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

    func debugView(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let accepted = AcceptedTypes(request.headers[.accept])
        let wanted = DebugView.allCases.reduce(DebugView.page) { best, view in
            accepted.quality(of: view.rawValue) > accepted.quality(of: best.rawValue) ? view : best
        }
        var response: Response
        switch wanted {
        case .page:
            _ = try await timeline(context)
            guard let page = webFiles["debug.html"] else {
                throw Problem(.notFound, "this relay was built without a page")
            }
            response = Self.response(with: page, to: request)
        case .drawing: response = try await debugDrawing(request, context)
        case .data: response = try await debugData(request, context)
        }
        response.headers[.vary] = "Accept"
        return response
    }

    func debugDrawing(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let drawing = try await timeline(context).document("drawing") { snapshot in
            let style = webFiles["timeline.css"].map { String(buffer: $0.contents) } ?? ""
            let madeAt = "confrelay \(RelayVersion.current) · \(Date.now.formatted(.iso8601))"
            return ByteBuffer(string: TimelineSVG(snapshot: snapshot, madeAt: madeAt, stylesheet: style).svg)
        }
        var response = Response.text(encoded: drawing, type: DebugView.drawing.rawValue)
        response.headers[.contentSecurityPolicy] = Self.drawingSecurityPolicy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.cacheControl] = "no-store"
        return response
    }

    func debugData(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let data = try await timeline(context).document("data") { try Response.encode($0) }
        var response = Response.json(encoded: data)
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private func timeline(_ context: SignallingContext) async throws -> SnapshotDocuments<RoomTimelineSnapshot> {
        let name = try RoomName(context.parameters.require("room"))
        guard let timeline = try await driver.snapshots.timeline(ofRoom: name.rawValue) else {
            throw Problem.noRoom(name)
        }
        return timeline
    }
}

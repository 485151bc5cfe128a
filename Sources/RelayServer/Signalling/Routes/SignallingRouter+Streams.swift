import Conference
import HTTPTypes
import Hummingbird
import NIOCore
import RoomAPI
import RoomMedia

/// A room as a live stream, for HLS players.
extension SignallingRouter {
    private static let streamExample = #"{"layout":"speaker","size":"1280x720","bitRate":2500000}"#

    var streamRoutes: [Route] {
        [
            Route(
                "/rooms/:room/stream",
                [
                    .init(.get, .needsUnlessPage(.watch), stream), .init(.put, .needs(.record), startStream),
                    .init(.delete, .needs(.record), endStream),
                ]),
            Route("/rooms/:room/stream/:file", [.init(.get, .needs(.watch), streamFile)]),
        ]
    }

    func startStream(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try liveStreams()
        let room = try RoomName(context.parameters.require("room"))
        let settings =
            try await request.jsonIfAny(CompositeSettings.self, example: Self.streamExample) ?? CompositeSettings()
        try await driver.startStream(room: room.rawValue, settings)
        var response = try Response.json(Self.status(.live, of: room), status: .created)
        response.headers[.location] = "/rooms/\(room.rawValue)/stream"
        return response
    }

    func endStream(_ request: Request, _ context: SignallingContext) async throws -> Response {
        _ = try liveStreams()
        let room = try RoomName(context.parameters.require("room"))
        guard await driver.endStream(room: room.rawValue) else { throw Self.noStream(room) }
        return Response(status: .noContent)
    }

    /// Its state, or in a browser the player.
    func stream(_ request: Request, _ context: SignallingContext) async throws -> Response {
        var response: Response
        if AcceptedTypes(request.headers[.accept]).prefersHTML {
            _ = try (liveStreams(), RoomName(context.parameters.require("room")))
            guard let page = webFiles["stream.html"] else {
                throw Problem(.notFound, "this relay was built without a page")
            }
            response = Self.response(with: page, to: request)
        } else {
            let (room, stream) = try findStream(context)
            response = try .json(Self.status(stream.isEnded ? .ended : .live, of: room))
        }
        response.headers[.vary] = "Accept"
        return response
    }

    /// Playlists, which may be asked for before they are there (`_HLS_msn`, `_HLS_part`), and pieces of the film.
    func streamFile(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, stream) = try findStream(context)
        let name = try context.parameters.require("file")
        guard let file = LiveFile(name: name[...]) else {
            throw Problem(.notFound, "a stream has no file '\(name)'; open \(Self.status(.live, of: room).playlist)")
        }
        do throws(LiveStream.Refusal) {
            switch file {
            case .index: return Self.playlist(try await stream.index())
            case .playlist:
                let segment = try number("_HLS_msn", of: request)
                let part = try number("_HLS_part", of: request)
                return Self.playlist(try await stream.playlist(segment: segment, part: part))
            case .initialization, .segment, .part:
                let bytes = try await stream.bytes(of: file)
                let type = if case .initialization = file { "video/mp4" } else { "video/iso.segment" }
                return Self.answer(type, bytes)
            }
        } catch {
            throw Self.problem(error, name: name)
        }
    }

    private func number(_ name: String, of request: Request) throws(LiveStream.Refusal) -> Int? {
        guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Int(text), (0...1_000_000_000).contains(number) else { throw .notOffered }
        return number
    }

    private func findStream(_ context: SignallingContext) throws -> (RoomName, LiveStream) {
        let room = try RoomName(context.parameters.require("room"))
        guard let stream = try liveStreams()[room.rawValue] else { throw Self.noStream(room) }
        return (room, stream)
    }

    private func liveStreams() throws(Problem) -> LiveStreams {
        guard let streams else {
            throw Problem(.forbidden, "this relay does not stream; its operator can start it with --streams")
        }
        return streams
    }

    private static func status(_ state: StreamStatus.State, of room: RoomName) -> StreamStatus {
        StreamStatus(state, ofRoom: room.rawValue)
    }

    private static func playlist(_ text: String) -> Response {
        answer("application/vnd.apple.mpegurl", ByteBuffer(string: text))
    }

    private static func answer(_ type: String, _ bytes: ByteBuffer) -> Response {
        // Not even pieces may be kept: those of the room's next stream have the same names.
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: ResponseBody(byteBuffer: bytes))
    }

    private static func noStream(_ room: RoomName) -> Problem {
        Problem(.notFound, "the room is not streamed; PUT /rooms/\(room.rawValue)/stream begins")
    }

    private static func problem(_ refusal: LiveStream.Refusal, name: String) -> Problem {
        switch refusal {
        case .notOffered where name == LiveFile.playlist.name:
            Problem(.badRequest, "_HLS_msn or _HLS_part is no number of a segment that comes soon")
        case .notOffered:
            Problem(.notFound, "the stream does not offer '\(name)', or no longer: read its playlist")
        case .notReady:
            Problem(
                .serviceUnavailable, "the stream has nothing new yet, or too many wait for it; try again",
                headers: [.retryAfter: "1"])
        }
    }
}

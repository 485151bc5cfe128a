import Conference
import HTTPTypes
import Hummingbird

/// The events of a room, as server-sent events.
extension SignallingRouter {
    func events(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let participant = request.uri.queryParameters["participant"].map { String($0) }
        let lease = context.quotaSubject.map { quotas.openStream(for: $0) }
        if case .some(nil) = lease {
            throw Problem(
                .tooManyRequests,
                "your address has its share of connections for events; close some, or try again later",
                headers: [.retryAfter: "30"])
        }
        let first: RoomFeed
        do {
            first = try await driver.follow(room: room.rawValue, participant: participant)
        } catch {
            throw Problem(error, room: room)
        }
        let headers: HTTPFields = [
            .contentType: ServerSentEvent.mediaType, .cacheControl: "no-store",
            // A proxy such as nginx would wait for more before it sends an event on.
            .accelBuffering: "no",
        ]
        let (caller, client) = (context.caller, context.client)
        let body = ResponseBody { writer in
            var feed = first
            following: repeat {
                // A subscriber that connects again gets the whole state, so missed events do not matter.
                try await writer.write(feed.state.encode())
                for await message in feed.messages where !feed.isOverrun {
                    try await writer.write(message.encode())
                    if message.mayShutOut, await access.isOut(caller, of: room, client: client) {
                        break following
                    }
                }
                // The same for one that is too slow, which keeps its connection.
                guard feed.isOverrun, await !access.isOut(caller, of: room, client: client),
                    let next = try? await driver.follow(room: room.rawValue, participant: participant)
                else { break }
                feed = next
            } while true
            try await writer.finish(nil)
            withExtendedLifetime(lease) {}
        }
        return Response(status: .ok, headers: headers, body: body)
    }
}

extension Problem {
    /// Makes the HTTP answer for a room that cannot be followed.
    init(_ error: RoomFeedError, room: RoomName) {
        switch error {
        case .noSuchRoom: self = .noRoom(room)
        case .noSuchParticipant:
            self.init(.notFound, "there is no such participant in the room '\(room.rawValue)'")
        case .tooManySubscribers(let limit):
            self.init(
                .serviceUnavailable, "the relay already serves its limit of \(limit) event streams; try again later",
                headers: [.retryAfter: "30"])
        case .closed: self.init(JoinError.closed)
        }
    }
}

extension HTTPField.Name {
    /// Tells proxies whether they may hold an answer back; `no` forbids it.
    static let accelBuffering = known("X-Accel-Buffering")
}

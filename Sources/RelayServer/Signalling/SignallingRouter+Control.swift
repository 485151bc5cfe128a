import Conference
import HTTPTypes
import Hummingbird

/// Layouts, and what a participant says of their microphone and camera.
extension SignallingRouter {
    private static let layoutExample = #"{"layout":"speaker"} or {"layout":"pinned","participant":"k3v9"}"#
    private static let ownLayoutExample =
        #"{"layout":"pinned","participant":"k3v9","hide":["x7c2"],"selfView":"always"}"#
    private static let mediaExample = #"{"microphone":false,"camera":true}"#

    func setRoomLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let layout = try await request.json(RoomLayout.self, example: Self.layoutExample)
        return try await controlling { () async throws(RoomControlError) in
            try await driver.setLayout(layout, room: room.rawValue)
        }
    }

    func setParticipantLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        let layout = try await request.json(ParticipantLayout.self, example: Self.ownLayoutExample)
        return try await controlling { () async throws(RoomControlError) in
            try await driver.setLayout(layout, room: room.rawValue, participant: participant)
        }
    }

    /// Gives a participant all as the room has it.
    func resetParticipantLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        return try await controlling { () async throws(RoomControlError) in
            try await driver.setLayout(nil, room: room.rawValue, participant: participant)
        }
    }

    func setMediaState(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        let state = try await request.json(MediaState.self, example: Self.mediaExample)
        return try await controlling { () async throws(RoomControlError) in
            try await driver.setMediaState(state, room: room.rawValue, participant: participant)
        }
    }

    private func controlling(_ change: () async throws(RoomControlError) -> Void) async throws -> Response {
        do {
            try await change()
            return Response(status: .noContent)
        } catch {
            throw Problem(error)
        }
    }
}

extension Problem {
    /// Says over HTTP why a room was not changed.
    init(_ error: RoomControlError) {
        let status: HTTPResponse.Status =
            switch error {
            case .noSuchRoom, .noSuchParticipant: .notFound
            case .layoutNamesNobody, .nobodyToHide: .unprocessableContent
            }
        self.init(
            status, error.description,
            errors: error.path.map { [Mistake(path: $0, reason: error.description)] } ?? [])
    }
}

import Compositing
import Conference
import HTTPTypes
import Hummingbird
import RoomAPI

/// Layouts, overlays, avatars, and the state of microphones and cameras.
extension SignallingRouter {
    private static let layoutExample = #"{"layout":"speaker"} or {"layout":"pinned","participant":"k3v9"}"#
    private static let ownLayoutExample =
        #"{"layout":"pinned","participant":"k3v9","hide":["x7c2"],"selfView":"always"}"#
    private static let overlaysExample = #"[{"image":"logo","anchor":"top-right","height":0.1},{"clock":"UTC"}]"#
    private static let mediaExample = #"{"microphone":false,"camera":true}"#

    func setRoomLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let layout = try await request.json(RoomLayout.self, example: Self.layoutExample)
        return try await perform(.setLayout(layout), in: room)
    }

    func setParticipantLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        let layout = try await request.json(ParticipantLayout.self, example: Self.ownLayoutExample)
        return try await perform(.setParticipantLayout(layout, participant: participant), in: room)
    }

    /// Removes a participant's own settings, so that the room's apply.
    func resetParticipantLayout(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try participantPath(context)
        return try await perform(.setParticipantLayout(nil, participant: participant), in: room)
    }

    func setMediaState(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        let state = try await request.json(MediaState.self, example: Self.mediaExample)
        return try await perform(.setMediaState(state, participant: participant), in: room)
    }

    func overlays(_ request: Request, _ context: SignallingContext) async throws -> Response {
        try await .json(findRoom(context).1.overlays)
    }

    func setOverlays(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let room = try RoomName(context.parameters.require("room"))
        let overlays = try await request.json(OverlayList.self, example: Self.overlaysExample)
        return try await perform(.setOverlays(overlays), in: room)
    }

    func setAvatar(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        guard request.mediaType == SignallingMediaType.png else {
            throw Problem(.unsupportedMediaType, "an avatar must be a PNG: send Content-Type: image/png")
        }
        if let subject = context.quotaSubject { try quotas.admit(.avatar, of: subject, now: now()) }
        let bytes = try await request.bytes(upTo: SignallingLimits.avatarSize)
        _ = try await perform(.prepareAvatar(participant: participant), in: room)
        let avatar: Avatar
        do {
            avatar = try await avatars.avatar(png: bytes)
        } catch {
            throw Problem(.unprocessableContent, error.description)
        }
        return try await perform(.setAvatar(avatar, participant: participant), in: room)
    }

    func removeAvatar(_ request: Request, _ context: SignallingContext) async throws -> Response {
        let (room, participant) = try sessionPath(context)
        return try await perform(.setAvatar(nil, participant: participant), in: room)
    }

    func perform(_ command: RoomCommand, in room: RoomName) async throws -> Response {
        do {
            try await driver.perform(command, room: room.rawValue)
            return Response(status: .noContent)
        } catch {
            throw Problem(error)
        }
    }
}

extension Problem {
    /// Makes the HTTP answer for a refused change of a room.
    init(_ error: RoomControlError) {
        let status: HTTPResponse.Status =
            switch error {
            case .noSuchRoom, .noSuchParticipant, .nobodyWaits, .noSuchRecording, .noSuchOutput, .noSuchPlayer:
                .notFound
            case .isRecorded, .tooManyOutputs, .tooManyPlayers, .noSeat, .atAnotherRelay: .conflict
            case .notAdmitted: .forbidden
            case .layoutNamesNobody, .nobodyToHide, .noSuchImages: .unprocessableContent
            case .tooManyChanges: .tooManyRequests
            case .noTime: .serviceUnavailable
            }
        var headers: HTTPFields = [:]
        switch error {
        case .tooManyChanges(let seconds), .noTime(_, let seconds): headers[.retryAfter] = "\(seconds)"
        default: break
        }
        self.init(status, error.description, headers: headers, errors: Self.mistakes(error.issues))
    }
}

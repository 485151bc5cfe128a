public import Compositing

/// The reason for which a room was not changed.
public enum RoomControlError: Error, Hashable, CustomStringConvertible {
    /// There is no room of that name.
    case noSuchRoom(String)
    /// The room has no participant of that id.
    case noSuchParticipant(String)
    /// The participant is at another relay of the cluster, which has this name.
    case atAnotherRelay(participant: String, relay: String)
    /// The layout names a participant that is not in the room.
    case layoutNamesNobody(participant: String)
    /// A participant to hide, at this place in the list, is not in the room.
    case nobodyToHide(participant: String, index: Int)
    /// A template or an overlay asks for images that the relay does not have.
    case noSuchImages(LayoutTemplateError)
    /// The room is recorded already, under this id.
    case isRecorded(recording: String)
    /// The room is not recorded under this id.
    case noSuchRecording(String)
    /// The room has no output of this id that goes on.
    case noSuchOutput(String)
    /// The room has as many outputs as it may have.
    case tooManyOutputs(limit: Int)
    /// The room has no player of this id that goes on.
    case noSuchPlayer(String)
    /// The room has as many players as it may have.
    case tooManyPlayers(limit: Int)
    /// The room does not let the publisher of a stream in.
    case notAdmitted(reason: String)
    /// The room has no seat for another member.
    case noSeat(reason: String)
    /// There is no time for another picture: the relay is busy. It may be asked again after this many seconds.
    case noTime(reason: String, retryAfter: Int)
    /// No person with that id waits in the lobby.
    case nobodyWaits(String)
    /// There were too many changes of this kind in a short time; the next one is possible after this many seconds.
    case tooManyChanges(retryAfter: Int)

    public var description: String {
        switch self {
        case .noSuchRoom(let room): "there is no room \"\(room)\"; a room exists while someone is in it"
        case .noSuchParticipant(let id): "the room has no participant \"\(id)\"; they may have left"
        case .atAnotherRelay(let id, let relay):
            "participant \"\(id)\" is at relay '\(relay)' of the cluster; send the request there"
        case .layoutNamesNobody(let id):
            "the layout names participant \"\(id)\", who is not in the room; name a participant of the room"
        case .nobodyToHide(let id, _):
            "\"hide\" names \"\(id)\", who is not in the room; name a participant of the room"
        case .noSuchImages(let error): error.description
        case .isRecorded(let id): "the room is recorded already, as \(id); end that recording first"
        case .noSuchRecording(let id): "the room is not being recorded as \(id)"
        case .noSuchOutput(let id): "the room has no output \"\(id)\", or it has ended"
        case .tooManyOutputs(let limit): "the room has \(limit) outputs, which is the most; end one of them first"
        case .noSuchPlayer(let id): "the room has no player \"\(id)\", or it has ended"
        case .tooManyPlayers(let limit): "the room has \(limit) players, which is the most; end one of them first"
        case .notAdmitted(let reason), .noSeat(let reason), .noTime(let reason, _): reason
        case .nobodyWaits(let id): "no person \"\(id)\" waits in the lobby; the person may have gone"
        case .tooManyChanges(let seconds):
            "too many changes in a short time; send the newest one again in \(seconds) s"
        }
    }

    /// The places of the mistakes in the JSON; empty if they are not in it.
    public var issues: [LayoutTemplateError.Issue] {
        switch self {
        case .noSuchRoom, .noSuchParticipant, .atAnotherRelay, .nobodyWaits, .isRecorded, .noSuchRecording,
            .noSuchOutput, .tooManyOutputs, .noSuchPlayer, .tooManyPlayers, .notAdmitted, .noSeat, .noTime,
            .tooManyChanges:
            []
        case .layoutNamesNobody: [.init(path: "participant", reason: description)]
        case .nobodyToHide(_, let index): [.init(path: "hide[\(index)]", reason: description)]
        case .noSuchImages(let error): error.issues
        }
    }
}

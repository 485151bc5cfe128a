/// Why a room was not changed.
public enum RoomControlError: Error, Hashable, CustomStringConvertible {
    /// There is no room of that name.
    case noSuchRoom(String)
    /// The room has no participant of that id.
    case noSuchParticipant(String)
    /// The layout is about a participant whom the room does not have.
    case layoutNamesNobody(participant: String)

    public var description: String {
        switch self {
        case .noSuchRoom(let room): "there is no room \"\(room)\"; it begins when someone joins it"
        case .noSuchParticipant(let id): "the room has no participant \"\(id)\"; they may have left"
        case .layoutNamesNobody(let id):
            "the layout shows participant \"\(id)\", who is not in the room; name one of those who are"
        }
    }
}

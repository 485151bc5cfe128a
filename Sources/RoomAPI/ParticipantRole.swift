/// What a participant does in a room.
public enum ParticipantRole: String, Codable, Sendable {
    case sendAndReceive, publish, watch
}

/// The role of a participant in a room.
public enum ParticipantRole: String, Codable, Sendable {
    case sendAndReceive, publish, watch
}

/// The choice whether a participant's picture contains the participant.
public enum SelfView: String, CaseIterable, Codable, Sendable {
    /// Everyone but oneself.
    case never
    /// Participants do not see themselves while there are encoders for that many pictures.
    case auto
    /// Everyone.
    case always
}

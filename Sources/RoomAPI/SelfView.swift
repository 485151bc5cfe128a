/// The choice whether a participant's picture contains the participant.
public enum SelfView: String, CaseIterable, Codable, Sendable {
    /// Everyone but oneself.
    case never
    /// Everyone but oneself while there are encoders for so many pictures, and otherwise everyone.
    case auto
    /// Everyone.
    case always
}

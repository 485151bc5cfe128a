/// The choice whether a participant's picture contains the participant.
public enum SelfView: String, CaseIterable, Codable, Sendable {
    /// The picture contains everyone but the participant.
    case never
    /// Participants do not see themselves while there are encoders for that many pictures.
    case auto
    /// The picture contains everyone.
    case always
}

/// The state of a participant's connection.
public enum ConnectionState: String, Codable, Hashable, Sendable, CaseIterable {
    /// An authentic packet has to come, and none has yet.
    case new
    /// Media flows, or can flow.
    case connected
    /// The remote side is silent; nothing is sent to its address until it is heard again.
    case reconnecting
    /// The connection has failed: the participant leaves.
    case failed
}

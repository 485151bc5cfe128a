/// How a participant's connection is.
public enum ConnectionState: String, Codable, Hashable, Sendable, CaseIterable {
    /// Nothing authentic has come yet.
    case new
    /// Media flows, or could.
    case connected
    /// The remote side has fallen silent; what was its address gets nothing until it is heard again.
    case reconnecting
    /// The connection is given up: the participant leaves.
    case failed
}

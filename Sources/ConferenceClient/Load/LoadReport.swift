/// What `confclient load --stats` writes. Documented in docs/confclient.md; fields are added, never renamed or given
/// another unit.
public struct LoadReport: Codable, Sendable {
    /// A client that could not join.
    public struct Failure: Codable, Sendable {
        public var name: String
        public var reason: String
    }

    /// Sums and extremes over the clients that joined.
    public struct Totals: Codable, Sendable {
        public var receivedVideoBitsPerSecond: Double
        public var sentVideoBitsPerSecond: Double
        /// Of the client with the least.
        public var minimumFramesPerSecond: Double
        public var meanFramesPerSecond: Double
        public var freezeSeconds: Double
        public var packetsLost: Int
        /// Clients that received no picture although they were to.
        public var clientsWithoutVideo: Int
    }

    /// The version of this form.
    public var version = 1
    public var url: String
    /// How many clients were asked for.
    public var count: Int
    public var joined: Int
    public var failures: [Failure]
    public var durationSeconds: Double
    /// Why the run ended: `duration`, `interrupted`, `relay-left` or `failed`.
    public var end: String
    /// What the process spent, user and system, from the first join to the end.
    public var cpuSeconds: Double
    public var totals: Totals
    public var clients: [ClientReport]
}

/// The content of `confclient load --stats`. Fields are added, never renamed or given another unit.
public struct LoadReport: Codable, Sendable {
    /// A client that could not join.
    public struct Failure: Codable, Sendable {
        public var name: String
        public var reason: String
    }

    /// A client's way to another relay of a cluster.
    public struct Move: Codable, Sendable {
        public var name: String
        /// The room's URL at the other relay.
        public var url: String
        /// `moved`: the relay asked to be left. `relay-left`: it was gone.
        public var reason: String
        /// From the request, or the loss, until the other relay took the client, in seconds.
        public var seconds: Double
    }

    /// Sums and extremes over the clients that joined.
    public struct Totals: Codable, Sendable {
        public var receivedVideoBitsPerSecond: Double
        public var sentVideoBitsPerSecond: Double
        /// The lowest frame rate of a client.
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
    /// The number of requested clients.
    public var count: Int
    public var joined: Int
    public var failures: [Failure]
    public var moves: [Move]
    public var durationSeconds: Double
    /// The reason for the end: `duration`, `interrupted`, `relay-left` or `failed`.
    public var end: String
    /// The processor time of the process, user and system, from the first join to the end.
    public var cpuSeconds: Double
    /// The figures of the relays at which the clients were at the end.
    public var totals: Totals
    /// A client that went from relay to relay has one for each.
    public var clients: [ClientReport]
}

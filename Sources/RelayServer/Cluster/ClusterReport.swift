public import Conference

/// A relay's part in its cluster, for metrics.
public struct ClusterReport: Sendable {
    /// True if the directory answers.
    public var isReachable = false
    /// Relays in the directory.
    public var nodes = 0
    /// Rooms in the directory.
    public var rooms = 0
    /// Rooms of this relay, by what it is to them.
    public var leading = 0
    public var following = 0
    public var unplaced = 0
    /// Seats of other relays that clients were sent to in the last 20 s.
    public var promisedSeats = 0
    public var counters = ClusterCounters()
    /// Links to other relays of this relay's rooms.
    public var links: [CascadeLinkSnapshot] = []
    public var cascade = CascadeCounters()
}

/// Counted since the relay's start.
public struct ClusterCounters: Sendable {
    /// Joins that came to this relay, by where they went.
    public var joinsHere: UInt64 = 0
    public var joinsRedirected: UInt64 = 0
    public var joinsRefused: UInt64 = 0
    /// Joins of clients that had lost their relay.
    public var rejoins: UInt64 = 0
    /// Rooms that this relay took over because their relay was dead.
    public var takeovers: UInt64 = 0
    /// Requests to the directory, and those that failed.
    public var requests: UInt64 = 0
    public var failures: UInt64 = 0
    /// How often the directory stopped answering.
    public var outages: UInt64 = 0
}

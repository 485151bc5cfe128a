public import Conference
public import RoomAPI
public import RoomMedia

/// Everything a server can say of itself at one moment; metrics are written from it.
public struct ServerReport: Sendable {
    /// Rooms, participants and the fate of datagrams.
    public var relay: RelaySnapshot
    /// The datagrams that passed the media socket.
    public var socket: MediaSocketCounters
    /// Datagrams that the kernel dropped before the relay could read them; nil if it does not tell.
    public var kernelDrops: UInt64? = nil
    /// Connections to the signalling server that were not served in full, since their address had its share of them.
    public var connectionsRefused: UInt64 = 0
    /// The outcomes of events for webhooks; nil without webhooks and event log.
    public var webhooks: WebhookCounters? = nil
    /// The relay's part in its cluster; nil: it has none.
    public var cluster: ClusterReport? = nil
    /// When the TLS certificate expires, in seconds since 1970; nil: the relay has none, or it does not say.
    public var certificateEnd: Int64? = nil
    /// The recordings of all rooms; nil: the relay records none.
    public var recordings: RecordingCounters? = nil
    /// Live streams; nil: the relay streams no rooms.
    public var streams: Int? = nil
    /// The outputs of all rooms; nil: the relay sends rooms nowhere.
    public var outputs: OutputCounters? = nil
    /// The players of all rooms; nil: the relay plays no films.
    public var players: PlayerCounters? = nil
    /// Jobs run, waiting and late.
    public var workers: WorkerPoolStatistics
    /// The number of worker threads.
    public var workerCount: Int
    /// True if media is being served.
    public var isServing: Bool
    /// Connections over which rooms' events are sent.
    public var eventSubscribers = 0
    /// The number of times that such a connection was read too slowly, and got the whole state instead of the missed
    /// events.
    public var eventSubscriberOverruns: UInt64 = 0
}

/// The recordings of all rooms, since the relay started.
public struct RecordingCounters: Hashable, Sendable {
    /// Those that go on.
    public var active = 0
    /// Those that ended.
    public var ended: [RecordingEndReason: UInt64] = [:]
}

/// An output of a room, for those who may begin and end outputs.
public struct OutputDescription: Codable, Hashable, Sendable {
    public var id: String
    public var name: String?
    /// The scheme and the host: what follows may have a key in it, and is not told.
    public var url: String
    public var state: OutputStatus.State
    /// The reason for the state; nil while the output connects or is live.
    public var reason: OutputStatus.Reason?
    /// The reason in words; nil if there is no more to say.
    public var detail: String?
    /// When the next connection is tried: RFC 3339, UTC. Nil unless it waits.
    public var nextTry: String?
    /// The bytes that were sent so far, in all connections.
    public var bytes: Int64
    /// Pictures that were not sent, because the server took too little.
    public var framesDropped: Int
    /// Connections after the first.
    public var reconnects: Int

    public init(
        _ status: OutputStatus, url: String, detail: String? = nil, nextTry: String? = nil, bytes: Int64 = 0,
        framesDropped: Int = 0, reconnects: Int = 0
    ) {
        id = status.id
        name = status.name
        state = status.state
        reason = status.reason
        self.url = url
        self.detail = detail
        self.nextTry = nextTry
        self.bytes = bytes
        self.framesDropped = framesDropped
        self.reconnects = reconnects
    }
}

/// The outputs of a room: those that go on, and the last ones that have ended.
public struct OutputList: Codable, Hashable, Sendable {
    public var outputs: [OutputDescription]

    public init(_ outputs: [OutputDescription]) {
        self.outputs = outputs
    }
}

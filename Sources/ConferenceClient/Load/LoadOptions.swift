/// Many clients of one room in one process.
public struct LoadOptions: Sendable {
    /// The options of each client; its name gets a number. With `video` as `synthetic` all share one clip, encoded
    /// once.
    public var client: JoinOptions
    public var count: Int
    /// The number of clients that decode what they receive; the others only count packets.
    public var decodingCount: Int
    /// The time between two joins.
    public var joinInterval: Duration

    public init(client: JoinOptions, count: Int, decodingCount: Int = 0, joinInterval: Duration = .milliseconds(50)) {
        self.client = client
        self.count = max(0, count)
        self.decodingCount = min(max(0, decodingCount), self.count)
        self.joinInterval = joinInterval
    }
}

public import MediaCore

/// A short burst at a rate above the target, to learn whether the path carries that rate.
public struct ProbeCluster: Hashable, Sendable, Identifiable {
    public var id: Int
    /// The rate to send at while the burst lasts.
    public var rate: BitRate
    /// The burst has at least this many packets.
    public var minimumPackets: Int
    /// The burst lasts at least this long.
    public var minimumDuration: Duration

    public init(id: Int, rate: BitRate, minimumPackets: Int = 5, minimumDuration: Duration = .milliseconds(15)) {
        self.id = id
        self.rate = rate
        self.minimumPackets = minimumPackets
        self.minimumDuration = minimumDuration
    }

    /// The burst carries at least this much.
    public var minimumSize: DataSize { rate.dataSize(over: minimumDuration) }
}

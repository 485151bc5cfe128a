/// What became of a simulated room.
public struct RoomReport: Codable, Hashable, Sendable {
    public var receivers: [RoomReceiverFigures] = []
    /// The part of all bits that keyframes took.
    public var keyframeShare = 0.0
    /// The most encoders at a tick, and how many they were on average.
    public var mostEncoders = 0
    public var meanEncoders = 0.0
    /// How often a receiver was moved from one group to another.
    public var moves: UInt64 = 0
    /// How often a group changed its size or frame rate.
    public var rungChanges: UInt64 = 0
}

/// What one receiver got.
public struct RoomReceiverFigures: Codable, Hashable, Sendable {
    public var name: String
    /// The bits a second of the frames that came whole.
    public var bitRate: Double
    /// Frames a second.
    public var frameRate: Double
    /// From the picture to the frame's last packet, in milliseconds.
    public var meanDelay: Double
    public var delay95: Double
    /// The longest time without a frame, in milliseconds.
    public var longestGap: Double
    /// Frames left out for this receiver alone.
    public var layerDrops: UInt64
    public var keyframes: UInt64
    public var groupChanges: UInt64
}

/// A room whose receivers share encoders, against the same room with an encoder for each.
public struct RoomComparison: Codable, Hashable, Sendable {
    public var shared: RoomReport
    public var dedicated: RoomReport

    public init(shared: RoomReport, dedicated: RoomReport) {
        self.shared = shared
        self.dedicated = dedicated
    }

    /// For each receiver the part of its rate with an encoder of its own that it gets.
    public var shares: [Double] {
        zip(shared.receivers, dedicated.receivers).map { $0.bitRate / max($1.bitRate, 1) }
    }
}

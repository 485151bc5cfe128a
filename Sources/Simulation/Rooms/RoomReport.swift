/// The figures of a simulated room.
public struct RoomReport: Codable, Hashable, Sendable {
    public var receivers: [RoomReceiverFigures] = []
    /// The share of all bits in keyframes.
    public var keyframeShare = 0.0
    /// The largest number of encoders at a tick; `meanEncoders` is the average.
    public var mostEncoders = 0
    public var meanEncoders = 0.0
    /// The number of times that a receiver moved to another group.
    public var moves: UInt64 = 0
    /// The number of times that a group changed its size or frame rate.
    public var rungChanges: UInt64 = 0
}

public struct RoomReceiverFigures: Codable, Hashable, Sendable {
    public var name: String
    /// The bits per second of complete frames.
    public var bitRate: Double
    /// The number of complete frames per second.
    public var frameRate: Double
    /// The mean time from the picture to the frame's last packet, in milliseconds; `delay95` is the 95th percentile.
    public var meanDelay: Double
    public var delay95: Double
    /// The longest time without a frame, in milliseconds.
    public var longestGap: Double
    /// The number of frames that were dropped for this receiver only.
    public var layerDrops: UInt64
    public var keyframes: UInt64
    public var groupChanges: UInt64
}

/// A room whose receivers share encoders, compared with the same room with an encoder for each receiver.
public struct RoomComparison: Codable, Hashable, Sendable {
    public var shared: RoomReport
    public var dedicated: RoomReport

    public init(shared: RoomReport, dedicated: RoomReport) {
        self.shared = shared
        self.dedicated = dedicated
    }

    /// Each receiver's rate with shared encoders, divided by its rate with an encoder of its own.
    public var shares: [Double] {
        zip(shared.receivers, dedicated.receivers).map { $0.bitRate / max($1.bitRate, 1) }
    }
}

public import Compositing
public import MediaCore

/// Whose packets a participant is sent as they are.
public struct ForwardingSnapshot: Encodable, Hashable, Sendable {
    /// The id of the participant who sends them.
    public var participant: String
    public var content: SourceContent
}

/// A room's receivers who are sent sources' own packets, all together.
public struct RoomForwardingSnapshot: Encodable, Hashable, Sendable {
    /// Receivers who are sent a source's packets now.
    public var receivers = 0
    /// Receivers who are sent a source's audio as it is now.
    public var audioReceivers = 0
    /// Packets forwarded.
    public var packets: UInt64 = 0
    /// How often a receiver went from an encoder's frames or the mix to a source's packets, or the other way round.
    public var switches: UInt64 = 0
}

public import Compositing
public import MediaCore

/// The source whose packets a participant gets.
public struct ForwardingSnapshot: Encodable, Hashable, Sendable {
    /// The identifier of the participant that sends them.
    public var participant: String
    public var content: SourceContent
}

/// All receivers of sources' own packets in a room.
public struct RoomForwardingSnapshot: Encodable, Hashable, Sendable {
    /// The number of receivers that get a source's video packets now.
    public var receivers = 0
    /// The number of receivers that get a source's audio packets now.
    public var audioReceivers = 0
    /// Packets forwarded.
    public var packets: UInt64 = 0
    /// The number of changes between an encoder's frames or the mix and a source's packets.
    public var switches: UInt64 = 0
}

public import MediaCore

/// The largest tile in which anybody sees a picture: more samples than these are sent in vain. Zero by zero while
/// nobody sees it. A larger tile is reported at once, a smaller one after a few seconds.
public struct RoomTile: Codable, Hashable, Sendable {
    public var participant: String
    public var content: SourceContent
    public var width: Int
    public var height: Int
    /// The video rate that the sender is asked for, in bit/s: as much as the best receiver can show.
    public var bitRate: Int64

    public init(participant: String, content: SourceContent, size: VideoDimensions, bitRate: BitRate) {
        self.participant = participant
        self.content = content
        width = size.width
        height = size.height
        self.bitRate = bitRate.bitsPerSecond
    }
}

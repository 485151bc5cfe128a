/// The live stream of a room, as the relay serves it.
public struct StreamStatus: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable {
        case live
        /// It is over; its last seconds are still there for a moment.
        case ended
    }

    public var state: State
    /// The path of the playlist that HLS players open.
    public var playlist: String

    public init(_ state: State, ofRoom room: String) {
        self.state = state
        playlist = "/rooms/\(room)/stream/index.m3u8"
    }
}

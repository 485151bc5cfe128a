/// A player of a room, as everybody who watches the room is told: without the address of what it plays.
public struct PlayerStatus: Codable, Hashable, Sendable {
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The film or stream is being opened.
        case opening
        case playing
        case paused
        /// The stream failed or broke; it is opened again later.
        case waiting
        case ended
    }

    /// The reason for which a player waits, or has ended.
    public enum Reason: String, Codable, CaseIterable, Hashable, Sendable {
        /// The host's name has no address.
        case nameNotFound
        /// The folder has no such file.
        case notFound
        /// Nobody listens at the address, or the server has no such stream.
        case refused
        /// There is no way to the address.
        case unreachable
        /// The server did not answer in time.
        case timedOut
        /// The server ended the connection.
        case connectionLost
        /// Anything else, such as a file that is no film.
        case failed
        /// Ended: the relay may not read from this host.
        case notPermitted
        /// Ended: the film is over.
        case finished
        /// Ended: by a request.
        case stopped
        /// Ended: the last participant has left.
        case roomClosed
        /// Ended: with the relay.
        case shutDown
    }

    /// The id of the player, which is the id of its member of the room as well.
    public var id: String
    /// The name on its tile.
    public var name: String
    public var state: State
    /// The reason for the state; nil while the player opens or plays.
    public var reason: Reason?
    /// True if the film or stream has pictures; false until that is known.
    public var video: Bool
    /// True if it has sound; false until that is known.
    public var audio: Bool

    public init(
        id: String, name: String, state: State, reason: Reason? = nil, video: Bool = false, audio: Bool = false
    ) {
        self.id = id
        self.name = name
        self.state = state
        self.reason = reason
        self.video = video
        self.audio = audio
    }
}

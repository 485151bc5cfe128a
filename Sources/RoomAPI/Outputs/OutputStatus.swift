/// An output of a room, as everybody who watches the room is told: without the server's address.
public struct OutputStatus: Codable, Hashable, Sendable {
    public enum State: String, Codable, CaseIterable, Hashable, Sendable {
        /// The server is being connected to.
        case connecting
        /// The server takes pictures and sound.
        case live
        /// The connection failed or broke; another one is tried later.
        case waiting
        case ended
    }

    /// The reason for which an output waits, or has ended.
    public enum Reason: String, Codable, CaseIterable, Hashable, Sendable {
        /// The host's name has no address.
        case nameNotFound
        /// Nobody listens at the address, or the server refused the stream.
        case refused
        /// There is no way to the address.
        case unreachable
        /// The server did not answer in time, or took nothing for too long.
        case timedOut
        /// The server ended the connection.
        case connectionLost
        /// Anything else that may pass.
        case failed
        /// Ended: the relay may not send to this host.
        case notPermitted
        /// Ended: by a request.
        case stopped
        /// Ended: the last participant has left.
        case roomClosed
        /// Ended: with the relay.
        case shutDown
    }

    public var id: String
    /// As the request named it.
    public var name: String?
    public var state: State
    /// The reason for the state; nil while the output connects or is live.
    public var reason: Reason?

    public init(id: String, name: String? = nil, state: State, reason: Reason? = nil) {
        self.id = id
        self.name = name
        self.state = state
        self.reason = reason
    }
}

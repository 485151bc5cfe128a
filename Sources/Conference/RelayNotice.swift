public import RoomAPI
public import SecureTransport

/// A notice for the relay's log.
public enum RelayNotice: Hashable, Sendable {
    /// A participant as the log names it.
    public struct Member: Hashable, Sendable {
        public var room: String
        /// The participant's id in URLs.
        public var id: String
        /// The name as the client gave it, unchecked.
        public var name: String
        public var role: ParticipantRole
        /// The address from which the join came, before any proxy that tells it; nil if it is not known.
        public var address: TransportAddress?
    }

    case joined(Member)
    /// The client has keys and a path: media flows.
    /// - after: The time since the join.
    case connected(Member, after: Duration)
    /// - after: The time since the join.
    case left(Member, LeaveReason, after: Duration)
    /// No media is sent until something authentic comes, because nothing has for this time.
    case fellSilent(Member, after: Duration)
    /// A GPU has failed at a participant's video, which software decodes from now on.
    case deviceFailed(Member, reason: String)
    /// A GPU has failed at a room's picture, which software composed.
    case compositionDeviceFailed(room: String, reason: String)
    /// Packets failed authentication since the last such notice; the newest came from this address.
    case authenticationFailed(packets: UInt64, last: TransportAddress)
}

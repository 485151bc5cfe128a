/// The direction of media, as the describing side sees it (RFC 8866, 6.7).
public enum MediaDirection: String, Hashable, Sendable, CaseIterable {
    case sendAndReceive = "sendrecv"
    case sendOnly = "sendonly"
    case receiveOnly = "recvonly"
    case inactive

    public init(sends: Bool, receives: Bool) {
        switch (sends, receives) {
        case (true, true): self = .sendAndReceive
        case (true, false): self = .sendOnly
        case (false, true): self = .receiveOnly
        case (false, false): self = .inactive
        }
    }

    public var sends: Bool { self == .sendAndReceive || self == .sendOnly }
    public var receives: Bool { self == .sendAndReceive || self == .receiveOnly }

    /// The direction as the other side sees it.
    public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

    /// Returns the direction that both directions, seen from the same side, allow.
    public func intersection(_ other: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
    }
}

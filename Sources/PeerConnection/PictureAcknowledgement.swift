import MediaCore

/// Which picture to tell the sender to have whole, where it keeps pictures to go back to (RFC 4585 6.3.3, RPSI).
///
/// A picture is told once the next one was handed on: by then whoever decodes has said if it was of no use.
struct PictureAcknowledgement {
    /// How often, at most.
    private static let interval = Duration.milliseconds(100)

    /// Whether the sender keeps pictures for the long term.
    var isWanted = false
    /// The RTP timestamps of the last whole pictures.
    private var newest: UInt32?
    private var confirmed: UInt32?
    private var last: MonotonicInstant?
    private(set) var count: UInt64 = 0

    /// A picture was handed on with all that it refers to.
    mutating func handedOn(_ timestamp: UInt32) {
        if newest != nil { confirmed = newest }
        newest = timestamp
    }

    /// The decoder could not go on.
    mutating func invalidate() { (newest, confirmed) = (nil, nil) }

    /// The picture to acknowledge now.
    mutating func take(now: MonotonicInstant) -> UInt32? {
        guard isWanted, let confirmed, last.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        self.confirmed = nil
        last = now
        count &+= 1
        return confirmed
    }
}

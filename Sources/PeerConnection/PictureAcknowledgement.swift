import MediaCore

/// Selects the picture to acknowledge to a sender that keeps references (RFC 4585 6.3.3, RPSI).
///
/// A picture is acknowledged when the next one was handed on: by then the decoder has reported an unusable one.
struct PictureAcknowledgement {
    private static let interval = Duration.milliseconds(100)

    /// True if the sender keeps long-term references.
    var isWanted = false
    /// The RTP timestamps of the last whole picture and of the last one that is acknowledged.
    private var newest: UInt32?
    private var confirmed: UInt32?
    private var last: MonotonicInstant?
    private(set) var count: UInt64 = 0

    /// A picture was handed on with all that it refers to.
    mutating func handedOn(_ timestamp: UInt32) {
        if newest != nil { confirmed = newest }
        newest = timestamp
    }

    /// Records that the decoder failed.
    mutating func invalidate() { (newest, confirmed) = (nil, nil) }

    mutating func take(now: MonotonicInstant) -> UInt32? {
        guard isWanted, let confirmed, last.map({ now - $0 >= Self.interval }) ?? true else { return nil }
        self.confirmed = nil
        last = now
        count &+= 1
        return confirmed
    }
}

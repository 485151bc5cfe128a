import MediaCore

/// The sources that a stream has had before the present one.
///
/// A source that is new replaces the present one at once: its sender began anew. A replaced one comes back only when
/// the present one has ended. Otherwise its late packets would end the new stream, and a sender with simulcast, which
/// is not negotiated, would make the stream begin again with nearly each packet, so that no picture is ever complete.
struct SourceSuccession {
    /// A source has ended after this time without a packet.
    private static let silence = Duration.seconds(1)
    /// An endpoint uses a few sources a line; more are not remembered.
    private static let maximumCount = 8

    private var replaced: [UInt32] = []
    /// The arrival of the present source's last packet.
    private var lastPacket = MonotonicInstant.zero

    /// Takes the arrival of a packet of a source. Returns true if the packet belongs to the stream, whose source this
    /// one is from now on.
    mutating func takes(_ ssrc: UInt32, after present: UInt32?, now: MonotonicInstant) -> Bool {
        if let present, present != ssrc {
            guard now - lastPacket >= Self.silence || !replaced.contains(ssrc) else { return false }
            replaced.removeAll { $0 == ssrc }
            if replaced.count >= Self.maximumCount { replaced.removeFirst() }
            replaced.append(present)
        }
        lastPacket = now
        return true
    }
}

public import MediaCore

/// Decides how many earlier payloads a receiver's audio packets repeat. Opus's own forward error correction does for
/// less loss, at a lower price.
public struct RedundancyPolicy: Sendable {
    /// The loss from which one payload is repeated.
    public static let beginningLoss = 0.1
    /// The loss below which no payload is repeated.
    public static let endingLoss = 0.05
    /// The loss from which two payloads are repeated; they are repeated as well if losses come in a row.
    public static let highLoss = 0.2
    /// The shortest time for which a decision holds, unless the depth grows.
    public static let hold = Duration.seconds(5)

    /// The number of repeated payloads.
    public private(set) var depth = 0
    private var changed = MonotonicInstant.zero

    public init() {}

    /// Decides again, from the fraction of lost packets and the mean length of bursts.
    public mutating func update(fractionLost: Double, meanBurst: Double, now: MonotonicInstant) {
        var wanted = 0
        if fractionLost >= (depth > 0 ? Self.endingLoss : Self.beginningLoss) {
            wanted = fractionLost >= Self.highLoss || meanBurst >= 2 ? 2 : 1
        }
        guard wanted > depth || (wanted < depth && now - changed >= Self.hold) else { return }
        depth = wanted
        changed = now
    }
}

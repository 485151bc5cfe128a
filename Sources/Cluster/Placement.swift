public import MediaCore

/// Chooses relays for rooms.
public enum Placement {
    /// A relay that could take a room.
    public struct Candidate: Hashable, Sendable {
        public var node: NodeID
        public var region: String
        /// Free seats that are not promised.
        public var seats: Int
    }

    /// Seats that a relay keeps for those who come back to its rooms: with fewer, its rooms go on to further relays.
    public static let reserve = 2

    /// The better of two random candidates by seats: of this region if any there has one, or else of all.
    ///
    /// Two random ones spread joins nearly as well as the best of all, and relays with the same old figures do not all
    /// choose the same one (Mitzenmacher, The Power of Two Choices, 2001).
    ///
    /// - Returns: nil: nobody has a seat.
    public static func choose(
        _ candidates: [Candidate], region: String, using random: inout some RandomNumberGenerator
    ) -> NodeID? {
        let free = candidates.filter { $0.seats > 0 }
        let near = free.filter { $0.region == region }
        let pool = near.isEmpty ? free : near
        guard let first = pool.randomElement(using: &random) else { return nil }
        let rest = pool.filter { $0.node != first.node }
        guard let second = rest.randomElement(using: &random) else { return first.node }
        return second.seats > first.seats ? second.node : first.node
    }
}

/// Seats that this relay has sent clients to lately, which the figures of those relays do not show yet.
public struct SeatPromises: Sendable {
    /// The life of a promise: by then the client has come, or will not come.
    public static let lifetime = Duration.seconds(20)
    /// Promises to one relay that are counted; of more the oldest is forgotten.
    static let maximumCount = 4096

    private var ends: [NodeID: [MonotonicInstant]] = [:]

    public init() {}

    public mutating func add(_ node: NodeID, now: MonotonicInstant) {
        prune(now: now)
        var own = ends[node] ?? []
        if own.count >= Self.maximumCount { own.removeFirst() }
        own.append(now + Self.lifetime)
        ends[node] = own
    }

    /// Promises to a relay that count now.
    public func count(_ node: NodeID, now: MonotonicInstant) -> Int {
        ends[node]?.count { now < $0 } ?? 0
    }

    /// The promises to all relays that count now.
    public func total(now: MonotonicInstant) -> Int { ends.keys.reduce(0) { $0 + count($1, now: now) } }

    private mutating func prune(now: MonotonicInstant) {
        for (node, own) in ends {
            let left = own.filter { now < $0 }
            ends[node] = left.isEmpty ? nil : left
        }
    }
}

import Cluster
import MediaCore

/// The origins of the pages of a cluster's relays, also of relays that lately were there: a page that came from a relay
/// that has died is still open.
struct PageOrigins {
    /// When each was last that of a relay.
    private var lastSeen: [WebOrigin: MonotonicInstant] = [:]

    /// The time for which a page of a relay that has gone is let in: about as long as a call.
    private static let lifetime = Duration.seconds(24 * 3600)
    private static let maximumCount = 2048

    var all: [WebOrigin] { Array(lastSeen.keys) }

    /// Notes the relays that there are now.
    mutating func note(_ relays: some Sequence<NodeRecord>, now: MonotonicInstant) {
        for record in relays {
            if let origin = try? WebOrigin(parsing: record.url) { lastSeen[origin] = now }
        }
        lastSeen = lastSeen.filter { now < $0.value + Self.lifetime }
        while lastSeen.count > Self.maximumCount, let oldest = lastSeen.min(by: { $0.value < $1.value }) {
            lastSeen[oldest.key] = nil
        }
    }
}

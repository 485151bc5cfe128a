import Cluster
import Conference

/// Requests between the relays of a room, signed with the cluster's secret.
enum CascadeRequests {
    /// The path at which links are made.
    static let path = "/cascade/links"
    /// The longest body: the state of 200 members and their streams, the overlays, and orders.
    static let bodySize = 512 * 1024

    /// `POST /cascade/links`: makes a link. The answer's body is a `CascadeOffer`.
    struct Opening: Codable, Sendable {
        var room: String
        /// The epoch of the room, which both relays have to know.
        var epoch: Int64
        /// The relay that makes the link.
        var from: NodeID
        var offer: CascadeOffer
    }

    /// `PUT /cascade/links/{link}`: what the relay at the other side has to tell.
    struct Telling: Codable, Sendable {
        var room: String
        var from: NodeID
        var state: CascadeState
    }
}

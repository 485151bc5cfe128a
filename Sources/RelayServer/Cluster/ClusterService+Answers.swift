import Cluster
import Foundation
import Hummingbird
import Logging
import MediaCore
import SecureTransport

/// Answers to what requests, links and reports ask the cluster's part of this relay.
extension ClusterService {
    /// The URL of the relay to which a request about a room goes; nil: this one answers.
    func otherOwner(of room: String, isOfLobby: Bool) -> String? {
        directory.otherOwner(of: room, isOfLobby: isOfLobby, now: now())
    }

    /// The URLs of the cluster's relays.
    var relayURLs: [String] { directory.nodes.values.map(\.url) }

    /// The origins of the relays' pages.
    var origins: [WebOrigin] { pageOrigins.all }

    /// Signs tickets; nil while the cluster's secret is not known.
    var secret: ClusterSecret? { directory.secret }

    /// True unless a relay of the cluster is of a version that does not sign the heads of its requests. The directory
    /// may lack a relay to which there is a link.
    var allSignHeads: Bool {
        get async {
            let doNamed = directory.nodes.allSatisfy { $0.key == node || $0.value.signsHeads == true }
            return doNamed ? await links.allSignHeads : false
        }
    }

    /// The ticket of a join; nil: it has none that is good.
    func ticket(_ text: String, room: String) -> ClusterSecret.Ticket? {
        let time = Date.now.timeIntervalSince1970
        if let seconds = secret?.lateness(ofTicket: text, node: node, time: time) { warn(ofTicketLateBy: seconds) }
        return secret?.ticket(text, node: node, room: room, time: time)
    }

    /// Tells the log, once a minute, of what may be a client's fault, but comes with each client if clocks differ.
    private func warn(ofTicketLateBy seconds: Double) {
        let now = now()
        guard now >= nextLateTicketWarning else { return }
        nextLateTicketWarning = now + .seconds(60)
        logger.warning(
            """
            a join came with a ticket of another relay that ended \(Int(min(seconds, 1e6))) s ago; if this goes on, \
            synchronize the clocks of the relays
            """)
    }

    /// The client of a join that another relay of the cluster brings; nil: a client brings it.
    func broughtClient(of request: Request) -> TransportAddress? {
        guard let text = request.uri.queryParameters[SignallingRouter.ClusterQuery.ticket[...]],
            let ticket = secret?.ticket(
                String(text), node: node, room: nil, time: Date.now.timeIntervalSince1970)
        else { return nil }
        return ticket.client.flatMap { TransportAddress(host: $0, port: 0) }
    }

    /// The epoch of a room that this relay has; nil: it has no such room.
    func epoch(of room: String) -> Int64? {
        directory.standing(of: room, now: now()) == nil ? nil : directory.owner(of: room)?.epoch
    }

    /// The cluster as this relay knows it.
    func makeOverview() async -> ClusterOverview {
        let now = now()
        let links = await driver.ask { $0.linkSnapshots(now: now) }
        return ClusterOverview(of: directory, at: node, links: links, now: now)
    }

    /// The state of the cluster's part at this moment.
    func makeReport() async -> ClusterReport {
        let now = now()
        let (links, cascade) = await driver.ask { ($0.linkSnapshots(now: now), $0.cascadeCounters) }
        let counts = directory.roomCounts(now: now)
        return ClusterReport(
            isReachable: directory.isReachable(now: now), nodes: directory.nodes.count,
            rooms: directory.ownedRoomCount, leading: counts.leading, following: counts.following,
            unplaced: counts.unplaced, promisedSeats: directory.promisedSeats(now: now), counters: counters,
            links: links, cascade: cascade)
    }
}

import Conference

extension MetricFamily<ServerReport> {
    /// The relay's part in its cluster; absent without `--cluster`.
    static var cluster: [Self] {
        [
            gauge(
                "cluster_reachable", \.cluster?.isReachable,
                "1: the directory answers, and the relay is in it."),
            gauge("cluster_relays", \.cluster?.nodes, "Relays in the cluster."),
            gauge("cluster_rooms", \.cluster?.rooms, "Rooms in the cluster."),
            split(
                "cluster_own_rooms", .gauge, by: "standing",
                "Rooms of this relay, by `standing`: `leading`, `following` (another relay leads), `unplaced`."
            ) { report in
                report.cluster.map {
                    ["leading": $0.leading, "following": $0.following, "unplaced": $0.unplaced]
                }
            },
            gauge(
                "cluster_promised_seats", \.cluster?.promisedSeats,
                "Seats of other relays promised to clients in the last 20 s."),
            split(
                "cluster_joins_total", .counter, by: "placement",
                "Joins by `placement`: `here`, `redirected`, `refused` (relays disagreed)."
            ) { report in
                (report.cluster?.counters).map {
                    ["here": $0.joinsHere, "redirected": $0.joinsRedirected, "refused": $0.joinsRefused]
                }
            },
            counter(
                "cluster_rejoins", \.cluster?.counters.rejoins, "Joins of clients that lost their relay."),
            counter(
                "cluster_takeovers", \.cluster?.counters.takeovers,
                "Rooms taken over from dead relays."),
            counter("cluster_requests", \.cluster?.counters.requests, "Requests to the directory."),
            counter(
                "cluster_requests_failed", \.cluster?.counters.failures,
                "Requests to the directory that failed or took 2 s."),
            split(
                "cluster_links", .gauge, by: "state", "Links to other relays, by `state`: `connected`, `connecting`."
            ) { $0.cluster?.linksByState },
            split(
                "cluster_link_bitrate_bps", .gauge, by: "direction", "Media on all links, by `direction`: `out`, `in`."
            ) { $0.cluster?.sums(out: \.sendBitRate, in: \.receiveBitRate) },
            split("cluster_link_streams", .gauge, by: "direction", "Sources on links, by `direction`: `out`, `in`.") {
                $0.cluster?.sums(out: \.streamsOut, in: \.streamsIn)
            },
            counter("cluster_links_connected", \.cluster?.cascade.connected, "Links connected."),
            counter(
                "cluster_links_lost", \.cluster?.cascade.lost, "Links that failed, or were silent for 5 s."),
            counter(
                "cluster_link_messages_refused", \.cluster?.cascade.refused,
                "Relays' messages refused: impossible, or over 50 a second."),
            counter(
                "cluster_relayed_packets", \.cluster?.cascade.packets,
                "Own participants' packets sent to other relays, without retransmissions."),
            counter(
                "cluster_pictures_held_back", \.cluster?.cascade.heldBack,
                "Pictures held back from slow links."),
            counter("cluster_outages", \.cluster?.counters.outages, "Outages of the directory."),
        ]
    }
}

extension ClusterReport {
    fileprivate var linksByState: KeyValuePairs<String, Int> {
        let connected = links.count(where: \.isConnected)
        return ["connected": connected, "connecting": links.count - connected]
    }

    /// A figure of all links together, by direction.
    fileprivate func sums<Figure: BinaryInteger>(
        out: KeyPath<CascadeLinkSnapshot, Figure>, in inward: KeyPath<CascadeLinkSnapshot, Figure>
    ) -> KeyValuePairs<String, Figure> {
        ["out": links.reduce(0) { $0 + $1[keyPath: out] }, "in": links.reduce(0) { $0 + $1[keyPath: inward] }]
    }
}

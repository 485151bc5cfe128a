import Conference

extension MetricFamily<ServerReport> {
    /// The relay's part in its cluster; absent without `--cluster`.
    static var cluster: [Self] {
        [
            gauge(
                "cluster_reachable", \.cluster?.isReachable,
                "1: the cluster's directory answers, and the relay is in it."),
            gauge("cluster_relays", \.cluster?.nodes, "Relays in the cluster."),
            gauge("cluster_rooms", \.cluster?.rooms, "Rooms in the cluster."),
            Self(
                "cluster_own_rooms", .gauge,
                "Rooms of this relay, by `standing`: `leading`, `following` (another relay leads it), `unplaced` (the "
                    + "directory has not said)."
            ) { report in
                let rooms = report.cluster.map {
                    [("leading", $0.leading), ("following", $0.following), ("unplaced", $0.unplaced)]
                }
                return (rooms ?? []).map { Sample(Double($0.1), [("standing", $0.0)]) }
            },
            gauge(
                "cluster_promised_seats", \.cluster?.promisedSeats,
                "Seats of other relays that clients were sent to in the last 20 s."),
            Self(
                "cluster_joins_total", .counter,
                "Joins that came to this relay, by `placement`: `here`, `redirected`, `refused` (relays disagreed)."
            ) { report in
                let joins = (report.cluster?.counters).map {
                    [("here", $0.joinsHere), ("redirected", $0.joinsRedirected), ("refused", $0.joinsRefused)]
                }
                return (joins ?? []).map { Sample(Double($0.1), [("placement", $0.0)]) }
            },
            counter(
                "cluster_rejoins", \.cluster?.counters.rejoins, "Joins of clients that had lost their relay."),
            counter(
                "cluster_takeovers", \.cluster?.counters.takeovers,
                "Rooms that this relay took over because their relay was dead."),
            counter("cluster_requests", \.cluster?.counters.requests, "Requests to the cluster's directory."),
            counter(
                "cluster_requests_failed", \.cluster?.counters.failures,
                "Requests to the directory that failed, or were not answered in 2 s."),
            Self(
                "cluster_links", .gauge,
                "Links to other relays of this relay's rooms, by `state`: `connected`, `connecting`."
            ) { report in
                guard let links = report.cluster?.links else { return [] }
                let connected = links.count(where: \.isConnected)
                return [("connected", connected), ("connecting", links.count - connected)].map {
                    Sample(Double($0.1), [("state", $0.0)])
                }
            },
            Self(
                "cluster_link_bitrate_bps", .gauge,
                "Media on all links together, by `direction`: `out`, `in`."
            ) { report in
                guard let links = report.cluster?.links else { return [] }
                let rates = [("out", \CascadeLinkSnapshot.sendBitRate), ("in", \.receiveBitRate)]
                return rates.map { name, path in
                    Sample(Double(links.reduce(0) { $0 + $1[keyPath: path] }), [("direction", name)])
                }
            },
            Self(
                "cluster_link_streams", .gauge,
                "Sources that cross links, by `direction`: `out`, `in`."
            ) { report in
                guard let links = report.cluster?.links else { return [] }
                let counts = [("out", \CascadeLinkSnapshot.streamsOut), ("in", \.streamsIn)]
                return counts.map { name, path in
                    Sample(Double(links.reduce(0) { $0 + $1[keyPath: path] }), [("direction", name)])
                }
            },
            counter("cluster_links_connected", \.cluster?.cascade.connected, "Links that connected."),
            counter(
                "cluster_links_lost", \.cluster?.cascade.lost, "Links that failed to connect, or fell silent for 5 s."),
            counter(
                "cluster_link_messages_refused", \.cluster?.cascade.refused,
                "Messages of other relays with values that no relay sends, or beyond 50 a second."),
            counter(
                "cluster_relayed_packets", \.cluster?.cascade.packets,
                "Packets of this relay's participants that were sent to other relays, retransmissions not counted."),
            counter(
                "cluster_pictures_held_back", \.cluster?.cascade.heldBack,
                "Times that a picture was not sent to another relay because the link carried too little."),
            counter("cluster_outages", \.cluster?.counters.outages, "Times that the directory stopped answering."),
        ]
    }
}

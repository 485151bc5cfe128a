extension MetricFamily<ServerReport> {
    /// The relay's part in its cluster; absent without `--cluster`.
    static var cluster: [Self] {
        [
            gauge("cluster_reachable", "1: the cluster's directory answers, and the relay is in it.") {
                ($0.cluster?.isReachable).map { $0 ? 1 : 0 }
            },
            gauge("cluster_relays", "Relays in the cluster.") { ($0.cluster?.nodes).map(Double.init) },
            gauge("cluster_rooms", "Rooms in the cluster.") { ($0.cluster?.rooms).map(Double.init) },
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
            gauge("cluster_promised_seats", "Seats of other relays that clients were sent to in the last 20 s.") {
                ($0.cluster?.promisedSeats).map(Double.init)
            },
            Self(
                "cluster_joins_total", .counter,
                "Joins that came to this relay, by `placement`: `here`, `redirected`, `refused` (relays disagreed)."
            ) { report in
                let joins = (report.cluster?.counters).map {
                    [("here", $0.joinsHere), ("redirected", $0.joinsRedirected), ("refused", $0.joinsRefused)]
                }
                return (joins ?? []).map { Sample(Double($0.1), [("placement", $0.0)]) }
            },
            counter("cluster_rejoins", "Joins of clients that had lost their relay.") { $0.cluster?.counters.rejoins },
            counter("cluster_takeovers", "Rooms that this relay took over because their relay was dead.") {
                $0.cluster?.counters.takeovers
            },
            counter("cluster_requests", "Requests to the cluster's directory.") { $0.cluster?.counters.requests },
            counter("cluster_requests_failed", "Requests to the directory that failed, or were not answered in 2 s.") {
                $0.cluster?.counters.failures
            },
            counter("cluster_outages", "How often the directory stopped answering.") { $0.cluster?.counters.outages },
        ]
    }
}

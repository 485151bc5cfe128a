import Conference
import LoadControl

extension ServerReport {
    /// Writes what overload control says; nothing where there is none.
    func writeOverload(to text: inout PrometheusText) {
        guard let overload = relay.overload else { return }
        text.begin(
            "confrelay_overload_level", .gauge, help: "How many of overload control's levels are taken; 0 is normal.")
        text.sample(overload.level.rawValue)
        text.begin("confrelay_overload_transitions_total", .counter, help: "Changes of overload control's level.")
        text.sample(overload.transitions)
        text.begin("confrelay_joins_refused_total", .counter, help: "Joins refused because there was no time for them.")
        text.sample(overload.joinsRefused)
        if let seats = overload.seatsLeft {
            text.begin("confrelay_seats_left", .gauge, help: "Participants that fit beside those who are there.")
            text.sample(seats)
        }
        if let seats = overload.seats {
            text.begin("confrelay_seats", .gauge, help: "Participants that fit altogether, by how they are served.")
            text.sample(seats.dedicated, [("serving", "dedicated")])
            text.sample(seats.groups, [("serving", "groups")])
            text.sample(seats.sharedView, [("serving", "shared-view")])
            text.sample(seats.cheapest, [("serving", "cheapest")])
        }
        text.begin(
            "confrelay_tick_load_ratio", .gauge,
            help: "What 95 % of the last second's ticks took at most of the time to the next one.")
        text.sample(overload.load)
        text.begin("confrelay_worker_busy_ratio", .gauge, help: "Workers' time spent in jobs over the last second.")
        text.sample(overload.busy)
        text.begin(
            "confrelay_tick_slack_ratio", .histogram,
            help: "Time left when a tick's last job was done, as a share of the time between two; negative: late.")
        text.histogram(
            bounds: SlackHistogram.bucketBounds, counts: overload.slack.counts, sum: overload.slack.sum, [])
    }
}

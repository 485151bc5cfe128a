import Conference
import LoadControl
import MediaCore
import PeerConnection

extension MetricFamily<ServerReport> {
    /// The metrics of the whole relay, in the order in which they are written.
    static var relay: [Self] { process + sockets + signalling + webhooks + cluster + workers + decoding + population }

    private static var process: [Self] {
        [
            Self("info", .gauge, "Always 1. The label `version` is the relay's.") { _ in
                [.init(1, [("version", RelayVersion.current)])]
            }
        ]
    }

    private static var sockets: [Self] {
        [
            counter("datagrams_received", "Datagrams read from the media socket.") { $0.socket.datagramsReceived },
            counter("received_bytes", "Payload bytes read from the media socket.") { $0.socket.bytesReceived },
            counter("datagrams_accepted", "Datagrams that authenticated and were taken.") {
                $0.relay.datagrams.accepted
            },
            counter("datagrams_dropped", by: "reason", "Datagrams that arrived and were dropped, by `reason`.") {
                [
                    "malformed": $0.relay.datagrams.malformed, "unknown": $0.relay.datagrams.unknown,
                    "unauthenticated": $0.relay.datagrams.unauthenticated,
                    "rate_limited": $0.relay.datagrams.rateLimited,
                    "check_refused": $0.relay.datagrams.checksRefused,
                    "handshake_refused": $0.relay.datagrams.handshakesRefused,
                ]
            },
            counter("ice_checks", "ICE connectivity checks that were authentic.") { $0.relay.datagrams.checks },
            counter("dtls_datagrams", "DTLS datagrams handed to their association.") {
                $0.relay.datagrams.handshakes
            },
            counter(
                "socket_receive_drops",
                "Datagrams that the kernel dropped because the media socket's receive buffer was full; absent "
                    + "if unknown."
            ) { $0.kernelDrops },
            counter("datagrams_sent", "Datagrams that the kernel took.") { $0.socket.datagramsSent },
            counter("sent_bytes", "Payload bytes that the kernel took.") { $0.socket.bytesSent },
            counter("send_calls", "System calls that sent datagrams; one takes several if the kernel segments them.") {
                $0.socket.systemCalls
            },
            counter(
                "socket_send_drops", by: "reason",
                "Datagrams not sent, by `reason`: `buffer_full`, `unsendable` (no route, too large, forbidden)."
            ) { ["buffer_full": $0.socket.droppedBufferFull, "unsendable": $0.socket.droppedUnsendable] },
        ]
    }

    private static var signalling: [Self] {
        [
            gauge("draining", "1: joins are refused until the relay ends, which waits for its calls.") {
                $0.relay.isDraining ? 1 : 0
            },
            gauge("unconnected_participants", "Participants that joined over HTTP and have not connected yet.") {
                Double($0.relay.joins.unconnected)
            },
            counter(
                "joins_failed", by: "reason",
                "Joins that did not become a call, by `reason`: `never_connected` (10 s), "
                    + "`too_many_unconnected`, `no_seat`."
            ) {
                [
                    "never_connected": $0.relay.joins.neverConnected,
                    "too_many_unconnected": $0.relay.joins.refusedUnconnected,
                    "no_seat": $0.relay.joins.withoutSeat,
                ]
            },
            counter(
                "http_connections_refused",
                "HTTP connections over the share of their address; only health checks are answered on them."
            ) { $0.connectionsRefused },
            gauge("event_subscribers", "Open event streams.") { Double($0.eventSubscribers) },
            counter("event_subscriber_overruns", "Slow readers of event streams that got the whole state again.") {
                $0.eventSubscriberOverruns
            },
        ]
    }

    private static var webhooks: [Self] {
        [
            Self(
                "webhook_events_total", .counter,
                "Events by `result`: `delivered`, `expired` (not taken for an hour), `dropped` (no room); absent without "
                    + "webhooks and event log."
            ) { report in
                let results = report.webhooks.map {
                    [("delivered", $0.delivered), ("expired", $0.expired), ("dropped", $0.dropped)]
                }
                return (results ?? []).map { Sample(Double($0.1), [("result", $0.0)]) }
            },
            counter("webhook_requests_failed", "Requests to webhooks that were not answered with 2xx.") {
                $0.webhooks?.failedRequests
            },
            gauge("webhook_queue_bytes", "Events that wait on disk for webhooks.") {
                ($0.webhooks?.waiting).map(Double.init)
            },
        ]
    }

    private static var workers: [Self] {
        [
            gauge("workers", "Worker threads.") { Double($0.workerCount) },
            Self("worker_busy_seconds_total", .counter, "Time that worker threads spent in jobs.") {
                [.init($0.workers.busyTime.seconds)]
            },
            gauge("jobs_queued", "Jobs waiting for a worker.") { Double($0.workers.queuedJobs) },
            gauge("jobs_running", "Jobs running.") { Double($0.workers.runningJobs) },
            counter("jobs_completed", "Jobs that ran.") { $0.workers.jobsCompleted },
            counter("jobs_late", by: "event", "Jobs past their deadline, by `event`: `started_late`, `finished_late`.")
            {
                ["started_late": $0.workers.jobsStartedLate, "finished_late": $0.workers.jobsFinishedLate]
            },
            counter("jobs_dropped", "Jobs dropped by the shutdown.") { $0.workers.jobsDiscarded },
        ]
    }

    private static var decoding: [Self] {
        [
            gauge("decode_memory_bytes", "Memory that decoded pictures may take at present.") {
                Double($0.relay.decoding.memory)
            },
            gauge("decode_memory_limit_bytes", "The limit of that memory.") { Double($0.relay.decoding.maximumMemory) },
            Self(
                "decode_frames_refused_total", .counter,
                "Video frames over the decode budget, dropped before the decoder, by `reason`."
            ) {
                $0.relay.decoding.framesRefused.map { .init(Double($0.frames), [("reason", $0.reason.rawValue)]) }
            },
        ]
    }

    private static var population: [Self] {
        [
            gauge("rooms", "Rooms open.") { Double($0.relay.rooms.count) },
            gauge("rooms_without_labels", "Rooms open that have no metrics of their own.") {
                Double(max(0, $0.relay.rooms.count - MetricSubjects.maximumRooms))
            },
            gauge("participants", "Participants in all rooms.") { Double($0.relay.participantCount) },
            gauge("participants_without_labels", "Participants that have no metrics of their own.") {
                Double(max(0, $0.relay.participantCount - MetricSubjects.maximumParticipants))
            },
        ]
    }

    /// The metrics of overload control; without samples if it is off.
    static var overload: [Self] {
        [
            gauge(
                "overload_level",
                "Overload control's level: "
                    + OverloadLevel.allCases.map { "\($0.rawValue) `\($0.name)`" }
                    .joined(separator: ", ") + "."
            ) { ($0.relay.overload?.level.rawValue).map(Double.init) },
            counter("overload_transitions", "Changes of overload control's level.") { $0.relay.overload?.transitions },
            counter("joins_refused", "Joins refused because there was no time for them.") {
                $0.relay.overload?.joinsRefused
            },
            gauge("seats_left", "Free seats with all measures in force; absent until the machine is measured.") {
                ($0.relay.overload?.seatsLeft).map(Double.init)
            },
            Self(
                "seats", .gauge,
                "Seats in one room, by `serving`: `dedicated` (own picture and encoder), `groups` (one "
                    + "picture, several "
                    + "encoders), `shared-view` (one picture, one encoder), `cheapest` (the same, cheapest preset, "
                    + "half frame rate)."
            ) { report in
                guard let seats = report.relay.overload?.seats else { return [] }
                return [
                    ("dedicated", seats.dedicated), ("groups", seats.groups), ("shared-view", seats.sharedView),
                    ("cheapest", seats.cheapest),
                ].map { .init(Double($0.1), [("serving", $0.0)]) }
            },
            gauge("tick_load_ratio", "95th percentile of a tick's time, last second, as a share of its interval.") {
                $0.relay.overload?.load
            },
            gauge("worker_busy_ratio", "Workers' time spent in jobs, last second.") { $0.relay.overload?.busy },
            Self(
                "tick_slack_ratio", .histogram,
                "Histogram: time left after a tick's last job, as a share of its interval; negative: late, -1: "
                    + "left out."
            ) {
                guard let slack = $0.relay.overload?.slack else { return [] }
                return [.init(.histogram(bounds: SlackHistogram.bucketBounds, counts: slack.counts, sum: slack.sum))]
            },
        ]
    }
}

extension RelaySnapshot {
    /// Participants in all rooms.
    fileprivate var participantCount: Int { rooms.reduce(0) { $0 + $1.participants.count } }
}

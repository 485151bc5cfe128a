import Conference
import LoadControl
import MediaCore
import PeerConnection

extension MetricFamily<ServerReport> {
    /// The metrics of the whole relay, in the order in which they are written.
    static var relay: [Self] {
        process + sockets + signalling + webhooks + outputs + players + cluster + workers + decoding + population
    }

    private static var process: [Self] {
        [
            Self("info", .gauge, "Always 1. The label `version` is the relay's.") { _ in
                [.init(1, [("version", RelayVersion.current)])]
            }
        ]
    }

    private static var sockets: [Self] {
        [
            counter("datagrams_received", \.socket.datagramsReceived, "Datagrams read from the media socket."),
            counter("received_bytes", \.socket.bytesReceived, "Payload bytes read from the media socket."),
            counter("datagrams_accepted", \.relay.datagrams.accepted, "Datagrams that authenticated and were taken."),
            counters("datagrams_dropped", by: "reason", "Datagrams that arrived and were dropped, by `reason`.") {
                [
                    "malformed": $0.relay.datagrams.malformed, "unknown": $0.relay.datagrams.unknown,
                    "unauthenticated": $0.relay.datagrams.unauthenticated,
                    "rate_limited": $0.relay.datagrams.rateLimited,
                    "check_refused": $0.relay.datagrams.checksRefused,
                    "handshake_refused": $0.relay.datagrams.handshakesRefused,
                ]
            },
            counter("ice_checks", \.relay.datagrams.checks, "ICE connectivity checks that were authentic."),
            counter("dtls_datagrams", \.relay.datagrams.handshakes, "DTLS datagrams handed to their association."),
            counter(
                "socket_receive_drops", \.kernelDrops,
                "Datagrams that the kernel dropped because the media socket's receive buffer was full; absent "
                    + "if unknown."),
            counter("datagrams_sent", \.socket.datagramsSent, "Datagrams that the kernel took."),
            counter("sent_bytes", \.socket.bytesSent, "Payload bytes that the kernel took."),
            counter(
                "send_calls", \.socket.systemCalls,
                "System calls that sent datagrams; one takes several if the kernel segments them."),
            counters(
                "socket_send_drops", by: "reason",
                "Datagrams not sent, by `reason`: `buffer_full`, `unsendable` (no route, too large, forbidden)."
            ) { ["buffer_full": $0.socket.droppedBufferFull, "unsendable": $0.socket.droppedUnsendable] },
        ]
    }

    private static var signalling: [Self] {
        [
            gauge(
                "draining", \.relay.isDraining,
                "1: joins are refused until the relay ends, which waits for its calls."),
            gauge(
                "unconnected_participants", \.relay.joins.unconnected,
                "Participants that joined over HTTP and have not connected yet."),
            counters(
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
                "http_connections_refused", \.connectionsRefused,
                "HTTP connections over the share of their address; only health checks are answered on them."),
            gauge("event_subscribers", \.eventSubscribers, "Open event streams."),
            counter(
                "event_subscriber_overruns", \.eventSubscriberOverruns,
                "Slow readers of event streams that got the whole state again."),
        ]
    }

    private static var webhooks: [Self] {
        [
            Self(
                "webhook_events_total", .counter,
                "Events by `result`: `delivered`, `expired` (not taken for an hour), `dropped` (no room); absent "
                    + "without webhooks and event log."
            ) { report in
                let results = report.webhooks.map {
                    [("delivered", $0.delivered), ("expired", $0.expired), ("dropped", $0.dropped)]
                }
                return (results ?? []).map { Sample(Double($0.1), [("result", $0.0)]) }
            },
            counter(
                "webhook_requests_failed", \.webhooks?.failedRequests,
                "Requests to webhooks that were not answered with 2xx."),
            gauge("webhook_queue_bytes", \.webhooks?.waiting, "Events that wait on disk for webhooks."),
        ]
    }

    private static var workers: [Self] {
        [
            gauge("workers", \.workerCount, "Worker threads."),
            Self("worker_busy_seconds_total", .counter, "Time that worker threads spent in jobs.") {
                [.init($0.workers.busyTime.seconds)]
            },
            gauge("jobs_queued", \.workers.queuedJobs, "Jobs waiting for a worker."),
            gauge("jobs_running", \.workers.runningJobs, "Jobs running."),
            counter("jobs_completed", \.workers.jobsCompleted, "Jobs that ran."),
            counters("jobs_late", by: "event", "Jobs past their deadline, by `event`: `started_late`, `finished_late`.")
            {
                ["started_late": $0.workers.jobsStartedLate, "finished_late": $0.workers.jobsFinishedLate]
            },
            counter("jobs_dropped", \.workers.jobsDiscarded, "Jobs dropped by the shutdown."),
        ]
    }

    private static var decoding: [Self] {
        [
            gauge("decode_memory_bytes", \.relay.decoding.memory, "Memory that decoded pictures may take at present."),
            gauge("decode_memory_limit_bytes", \.relay.decoding.maximumMemory, "The limit of that memory."),
            Self(
                "decode_frames_refused_total", .counter,
                "Video frames over the decode budget, dropped before the decoder, by `reason`."
            ) {
                $0.relay.decoding.framesRefused.map { .init(Double($0.frames), [("reason", $0.reason.rawValue)]) }
            },
            counter(
                "gpu_pictures_decoded", \.relay.decoding.picturesOnDevice,
                "Pictures that a GPU decoded (`--vaapi-decode`)."),
            counter(
                "gpu_decode_faults", \.relay.decoding.deviceFaults,
                "Streams at which a GPU failed; software decodes them since."),
            counter(
                "gpu_pictures_composed", \.relay.composing.pictures,
                "Pictures that a GPU composed (`--vaapi-compose`)."),
            counter(
                "gpu_compose_faults", \.relay.composing.faults,
                "Pictures at which a GPU failed to compose; software composed them."),
            Self("gpu_copies_total", .counter, "Pictures copied between memory and GPUs, by `direction`.") {
                [
                    .init(Double($0.relay.copies.toDevice), [("direction", "to_gpu")]),
                    .init(Double($0.relay.copies.fromDevice), [("direction", "from_gpu")]),
                ]
            },
        ]
    }

    private static var population: [Self] {
        [
            computed("rooms", "Rooms open.") { Double($0.relay.rooms.count) },
            computed("rooms_without_labels", "Rooms open that have no metrics of their own.") {
                Double(max(0, $0.relay.rooms.count - MetricSubjects.maximumRooms))
            },
            computed("participants", "Participants in all rooms.") { Double($0.relay.participantCount) },
            computed("participants_without_labels", "Participants that have no metrics of their own.") {
                Double(max(0, $0.relay.participantCount - MetricSubjects.maximumParticipants))
            },
        ]
    }

    /// The metrics of overload control; without samples if it is off.
    static var overload: [Self] {
        [
            computed(
                "overload_level",
                "Overload control's level: "
                    + OverloadLevel.allCases.map { "\($0.rawValue) `\($0.name)`" }
                    .joined(separator: ", ") + "."
            ) { ($0.relay.overload?.level.rawValue).map(Double.init) },
            counter(
                "overload_transitions", \.relay.overload?.transitions, "Changes of overload control's level."),
            counter(
                "joins_refused", \.relay.overload?.joinsRefused, "Joins refused because there was no time for them."),
            gauge(
                "seats_left", \.relay.overload?.seatsLeft,
                "Free seats with all measures in force; absent until the machine is measured."),
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
            gauge(
                "tick_load_ratio", \.relay.overload?.load,
                "95th percentile of a tick's time, last second, as a share of its interval."),
            gauge("worker_busy_ratio", \.relay.overload?.busy, "Workers' time spent in jobs, last second."),
            gauge("gpu_busy_ratio", \.relay.overload?.deviceBusy, "A GPU's time spent in jobs, last second."),
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

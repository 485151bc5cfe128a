import Conference
import LoadControl
import MediaCore
import PeerConnection

extension MetricFamily<ServerReport> {
    /// The metrics of the whole relay, in the order in which they are written.
    static var relay: [Self] {
        process + sockets + signalling + webhooks + recordings + outputs + players + cluster + workers + decoding
            + population
    }

    private static var process: [Self] {
        [
            Self("info", .gauge, "1. Label `version`: the relay's.") { _ in
                [.init(1, [("version", RelayVersion.current)])]
            }
        ]
    }

    private static var sockets: [Self] {
        [
            counter("datagrams_received", \.socket.datagramsReceived, "Datagrams received."),
            counter("received_bytes", \.socket.bytesReceived, "Payload bytes received."),
            counter("datagrams_accepted", \.relay.datagrams.accepted, "Datagrams authenticated and taken."),
            split("datagrams_dropped_total", .counter, by: "reason", "Received datagrams dropped, by `reason`.") {
                [
                    "malformed": $0.relay.datagrams.malformed, "unknown": $0.relay.datagrams.unknown,
                    "unauthenticated": $0.relay.datagrams.unauthenticated,
                    "rate_limited": $0.relay.datagrams.rateLimited,
                    "check_refused": $0.relay.datagrams.checksRefused,
                    "handshake_refused": $0.relay.datagrams.handshakesRefused,
                ]
            },
            counter("ice_checks", \.relay.datagrams.checks, "Authentic ICE checks."),
            counter("dtls_datagrams", \.relay.datagrams.handshakes, "DTLS datagrams taken."),
            counter(
                "socket_receive_drops", \.kernelDrops,
                "Datagrams that the kernel dropped: receive buffer full; absent if unknown."),
            counter("datagrams_sent", \.socket.datagramsSent, "Datagrams sent."),
            counter("sent_bytes", \.socket.bytesSent, "Payload bytes sent."),
            counter(
                "send_calls", \.socket.systemCalls,
                "System calls to send; one may send several datagrams."),
            split(
                "socket_send_drops_total", .counter, by: "reason",
                "Datagrams not sent, by `reason`: `buffer_full`, `unsendable` (no route, too large, forbidden)."
            ) { ["buffer_full": $0.socket.droppedBufferFull, "unsendable": $0.socket.droppedUnsendable] },
        ]
    }

    private static var signalling: [Self] {
        [
            gauge("draining", \.relay.isDraining, "1: joins are refused until all calls end."),
            gauge(
                "unconnected_participants", \.relay.joins.unconnected,
                "Participants that joined and have not connected yet."),
            split(
                "joins_failed_total", .counter, by: "reason",
                "Failed joins, by `reason`: `never_connected` (10 s), `too_many_unconnected`, `no_seat`."
            ) {
                [
                    "never_connected": $0.relay.joins.neverConnected,
                    "too_many_unconnected": $0.relay.joins.refusedUnconnected,
                    "no_seat": $0.relay.joins.withoutSeat,
                ]
            },
            counter(
                "http_connections_refused", \.connectionsRefused,
                "HTTP connections over their address's share."),
            gauge(
                "certificate_expiry_timestamp_seconds", \.certificateEnd,
                "When the TLS certificate expires, since 1970."),
            gauge("event_subscribers", \.eventSubscribers, "Open event streams."),
            counter(
                "event_subscriber_overruns", \.eventSubscriberOverruns,
                "Slow readers that got the whole state again."),
        ]
    }

    private static var webhooks: [Self] {
        [
            split(
                "webhook_events_total", .counter, by: "result",
                "Events by `result`: `delivered`, `refused` (as `400`), `expired` (after an hour), `dropped` (no room)."
            ) { report in
                report.webhooks.map {
                    [
                        "delivered": $0.delivered, "refused": $0.refused, "expired": $0.expired,
                        "dropped": $0.dropped,
                    ]
                }
            },
            counter(
                "webhook_requests_failed", \.webhooks?.failedRequests,
                "Webhook requests not answered with 2xx."),
            gauge("webhook_queue_bytes", \.webhooks?.waiting, "Bytes of events waiting on disk."),
        ]
    }

    private static var workers: [Self] {
        [
            gauge("workers", \.workerCount, "Worker threads."),
            Self("worker_busy_seconds_total", .counter, "Workers' time in jobs.") {
                [.init($0.workers.busyTime.seconds)]
            },
            gauge("jobs_queued", \.workers.queuedJobs, "Jobs waiting."),
            gauge("jobs_running", \.workers.runningJobs, "Jobs running."),
            counter("jobs_completed", \.workers.jobsCompleted, "Jobs that ran."),
            split("jobs_late_total", .counter, by: "event", "Late jobs, by `event`: `started_late`, `finished_late`.") {
                ["started_late": $0.workers.jobsStartedLate, "finished_late": $0.workers.jobsFinishedLate]
            },
            counter("jobs_dropped", \.workers.jobsDiscarded, "Jobs dropped by the shutdown."),
        ]
    }

    private static var decoding: [Self] {
        [
            gauge("decode_memory_bytes", \.relay.decoding.memory, "Memory that decoded pictures may take now."),
            gauge("decode_memory_limit_bytes", \.relay.decoding.maximumMemory, "Limit of decoded pictures' memory."),
            Self(
                "decode_frames_refused_total", .counter,
                "Video frames over the decode budget, by `reason`."
            ) {
                $0.relay.decoding.framesRefused.map { .init(Double($0.frames), [("reason", $0.reason.rawValue)]) }
            },
            counter(
                "gpu_pictures_decoded", \.relay.decoding.picturesOnDevice,
                "Pictures decoded on a GPU."),
            counter(
                "gpu_decode_faults", \.relay.decoding.deviceFaults,
                "Streams at which decoding failed on a GPU."),
            counter(
                "gpu_pictures_composed", \.relay.composing.pictures,
                "Pictures composed on a GPU."),
            counter(
                "gpu_compose_faults", \.relay.composing.faults,
                "Pictures at which composing failed on a GPU."),
            split(
                "gpu_copies_total", .counter, by: "direction",
                "Pictures copied between memory and GPUs, by `direction`: `to_gpu`, `from_gpu`."
            ) { ["to_gpu": $0.relay.copies.toDevice, "from_gpu": $0.relay.copies.fromDevice] },
        ]
    }

    private static var population: [Self] {
        [
            computed("rooms", "Open rooms.") { Double($0.relay.rooms.count) },
            computed("rooms_without_labels", "Open rooms without metrics of their own.") {
                Double(max(0, $0.relay.rooms.count - MetricSubjects.maximumRooms))
            },
            computed("participants", "Participants in all rooms.") { Double($0.relay.participantCount) },
            computed("participants_without_labels", "Participants without metrics of their own.") {
                Double(max(0, $0.relay.participantCount - MetricSubjects.maximumParticipants))
            },
        ]
    }

    /// The metrics of overload control; without samples if it is off.
    static var overload: [Self] {
        [
            computed(
                "overload_level",
                "Level: "
                    + OverloadLevel.allCases.map { "\($0.number) `\($0.name)`" }
                    .joined(separator: ", ") + "."
            ) { ($0.relay.overload?.level.number).map(Double.init) },
            counter(
                "overload_transitions", \.relay.overload?.transitions, "Changes of the overload level."),
            counter(
                "joins_refused", \.relay.overload?.joinsRefused, "Joins refused: no time for them."),
            gauge(
                "seats_left", \.relay.overload?.seatsLeft,
                "Free seats with all measures in force."),
            split(
                "seats", .gauge, by: "serving",
                "Seats in one room, by `serving`: `dedicated` (own picture and encoder), `groups` (one picture, "
                    + "several encoders), `shared-view` (one encoder), `cheapest` (cheapest preset, too, and half "
                    + "frame rate)."
            ) { report in
                (report.relay.overload?.seats).map {
                    [
                        "dedicated": $0.dedicated, "groups": $0.groups, "shared-view": $0.sharedView,
                        "cheapest": $0.cheapest,
                    ]
                }
            },
            gauge(
                "tick_load_ratio", \.relay.overload?.load,
                "95th percentile of tick time over interval, last second."),
            gauge("worker_busy_ratio", \.relay.overload?.busy, "Workers' share of time in jobs, last second."),
            gauge("gpu_busy_ratio", \.relay.overload?.deviceBusy, "A GPU's share of time in jobs, last second."),
            Self(
                "tick_slack_ratio", .histogram,
                "Histogram: time left after a tick's jobs over its interval; negative: late, -1: left out."
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

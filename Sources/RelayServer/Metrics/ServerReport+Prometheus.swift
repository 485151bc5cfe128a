import Conference
import MediaCore
import PeerConnection

extension ServerReport {
    /// The report as `GET /metrics` gives it; `docs/metrics.md` lists the names.
    func prometheusText() -> String {
        var text = PrometheusText()
        writeProcess(to: &text)
        writeOverload(to: &text)
        writeDecoding(to: &text)
        let subjects = MetricSubjects(relay)
        writeRooms(subjects.rooms, to: &text)
        writeParticipants(subjects.participants, to: &text)
        return text.text
    }

    private func writeProcess(to text: inout PrometheusText) {
        text.begin("confrelay_info", .gauge, help: "Always 1; the version is in the label.")
        text.sample(1, [("version", RelayVersion.current)])

        text.begin("confrelay_datagrams_received_total", .counter, help: "Datagrams read from the media socket.")
        text.sample(socket.datagramsReceived)
        text.begin("confrelay_received_bytes_total", .counter, help: "Payload bytes read from the media socket.")
        text.sample(socket.bytesReceived)
        text.begin(
            "confrelay_datagrams_accepted_total", .counter, help: "Datagrams that authenticated and were taken.")
        text.sample(relay.datagrams.accepted)
        text.begin(
            "confrelay_datagrams_dropped_total", .counter,
            help: "Datagrams that arrived and were dropped, by reason.")
        text.sample(relay.datagrams.malformed, [("reason", "malformed")])
        text.sample(relay.datagrams.unknown, [("reason", "unknown")])
        text.sample(relay.datagrams.unauthenticated, [("reason", "unauthenticated")])
        text.sample(relay.datagrams.rateLimited, [("reason", "rate_limited")])
        text.sample(relay.datagrams.checksRefused, [("reason", "check_refused")])
        text.sample(relay.datagrams.handshakesRefused, [("reason", "handshake_refused")])
        text.begin("confrelay_ice_checks_total", .counter, help: "ICE connectivity checks that were authentic.")
        text.sample(relay.datagrams.checks)
        text.begin("confrelay_dtls_datagrams_total", .counter, help: "DTLS datagrams handed to their association.")
        text.sample(relay.datagrams.handshakes)
        text.begin(
            "confrelay_unconnected_participants", .gauge,
            help: "Participants that joined over HTTP and have not connected yet.")
        text.sample(relay.joins.unconnected)
        text.begin("confrelay_joins_failed_total", .counter, help: "Joins that did not become a call, by reason.")
        text.sample(relay.joins.neverConnected, [("reason", "never_connected")])
        text.sample(relay.joins.refusedUnconnected, [("reason", "too_many_unconnected")])
        text.sample(relay.joins.withoutSeat, [("reason", "no_seat")])
        if let kernelDrops {
            text.begin(
                "confrelay_socket_receive_drops_total", .counter,
                help: "Datagrams that the kernel dropped because the media socket's receive buffer was full.")
            text.sample(kernelDrops)
        }
        text.begin("confrelay_datagrams_sent_total", .counter, help: "Datagrams that the kernel took.")
        text.sample(socket.datagramsSent)
        text.begin("confrelay_sent_bytes_total", .counter, help: "Payload bytes that the kernel took.")
        text.sample(socket.bytesSent)
        text.begin(
            "confrelay_send_calls_total", .counter,
            help: "System calls that sent datagrams; one takes several where the kernel segments.")
        text.sample(socket.systemCalls)
        text.begin("confrelay_socket_send_drops_total", .counter, help: "Datagrams not sent, by reason.")
        text.sample(socket.droppedBufferFull, [("reason", "buffer_full")])
        text.sample(socket.droppedUnsendable, [("reason", "unsendable")])

        text.begin(
            "confrelay_http_connections_refused_total", .counter,
            help: "HTTP connections beyond the share of their address, on which only health checks are answered.")
        text.sample(connectionsRefused)
        text.begin("confrelay_event_subscribers", .gauge, help: "Connections to which rooms' events are told.")
        text.sample(eventSubscribers)
        text.begin(
            "confrelay_event_subscriber_overruns_total", .counter,
            help: "Times that a connection for events was read too slowly and was told the whole state anew.")
        text.sample(eventSubscriberOverruns)

        text.begin("confrelay_workers", .gauge, help: "Worker threads.")
        text.sample(workerCount)
        text.begin("confrelay_worker_busy_seconds_total", .counter, help: "Time that worker threads spent in jobs.")
        text.sample(workers.busyTime.seconds)
        text.begin("confrelay_jobs_queued", .gauge, help: "Jobs waiting for a worker.")
        text.sample(workers.queuedJobs)
        text.begin("confrelay_jobs_running", .gauge, help: "Jobs running.")
        text.sample(workers.runningJobs)
        text.begin("confrelay_jobs_completed_total", .counter, help: "Jobs that ran.")
        text.sample(workers.jobsCompleted)
        text.begin("confrelay_jobs_late_total", .counter, help: "Jobs that ran past their deadline, by how far.")
        text.sample(workers.jobsStartedLate, [("event", "started_late")])
        text.sample(workers.jobsFinishedLate, [("event", "finished_late")])
        text.begin("confrelay_jobs_dropped_total", .counter, help: "Jobs thrown away by the shutdown.")
        text.sample(workers.jobsDiscarded)
    }

    private func writeDecoding(to text: inout PrometheusText) {
        let decoding = relay.decoding
        text.begin("confrelay_decode_memory_bytes", .gauge, help: "Memory that decoded pictures may take at present.")
        text.sample(decoding.memory)
        text.begin("confrelay_decode_memory_limit_bytes", .gauge, help: "The most of it.")
        text.sample(decoding.maximumMemory)
        text.begin(
            "confrelay_decode_frames_refused_total", .counter,
            help: "Video frames dropped before the decoder: more than the decode budget, by reason.")
        for refused in decoding.framesRefused {
            text.sample(refused.frames, [("reason", refused.reason.rawValue)])
        }
    }

    private func writeRooms(_ rooms: [RoomSnapshot], to text: inout PrometheusText) {
        text.begin("confrelay_rooms", .gauge, help: "Rooms open.")
        text.sample(relay.rooms.count)
        text.begin("confrelay_rooms_without_labels", .gauge, help: "Rooms open that have no metrics of their own.")
        text.sample(relay.rooms.count - rooms.count)

        func family(
            _ name: String, _ kind: PrometheusText.Kind, _ help: String, _ value: (RoomSnapshot) -> UInt64
        ) {
            text.begin("confrelay_room_\(name)", kind, help: help)
            for room in rooms { text.sample(value(room), [("room", room.id)]) }
        }
        family("participants", .gauge, "Participants in the room.") { UInt64($0.participants.count) }
        family("ticks_total", .counter, "Video ticks whose composition was done.", \.ticks)
        family("missed_ticks_total", .counter, "Video ticks left out: the one before was not done.", \.missedTicks)
        family("composed_pictures_total", .counter, "Pictures composed.", \.composedPictures)
        text.begin("confrelay_room_pictures_total", .counter, help: "Composed pictures by how they came about.")
        for room in rooms {
            let pictures = room.pictures
            for (origin, count) in [
                ("rendered", pictures.rendered), ("reused", pictures.reused),
                ("passed_through", pictures.passedThrough), ("fallback", pictures.fallbacks),
            ] {
                text.sample(count, [("room", room.id), ("origin", origin)])
            }
        }
        family("encoders", .gauge, "Video encoders.") { UInt64($0.encoding.groups.count) }
        family("frames_encoded_total", .counter, "Video frames encoded.", \.encoding.frames)
        family("keyframes_encoded_total", .counter, "Keyframes encoded.", \.encoding.keyframes)
        family("encoded_bytes_total", .counter, "Bytes of the frames encoded.", \.encoding.bytes)
        family("encoded_keyframe_bytes_total", .counter, "Bytes of the keyframes.", \.encoding.keyframeBytes)
        family(
            "encoder_failures_total", .counter, "Encoders that could not be made, or did not encode.",
            \.encoding.failures)
        family("encoder_moves_total", .counter, "Receivers moved between encoders.", \.encoding.moves)
        family("forwarding_receivers", .gauge, "Receivers sent a source's own packets.") {
            UInt64($0.forwarding.receivers)
        }
        family("forwarding_audio_receivers", .gauge, "Receivers sent a source's own audio.") {
            UInt64($0.forwarding.audioReceivers)
        }
        family("forwarding_packets_total", .counter, "Packets forwarded as they came.", \.forwarding.packets)
        family(
            "forwarding_switches_total", .counter, "Changes between encoders and sources' own packets.",
            \.forwarding.switches)
        family("late_audio_ticks_total", .counter, "Audio ticks that came late: the mixer was busy.", \.lateAudioTicks)
    }

    private func writeParticipants(_ participants: [MetricSubjects.Participant], to text: inout PrometheusText) {
        let count = relay.rooms.reduce(0) { $0 + $1.participants.count }
        text.begin("confrelay_participants", .gauge, help: "Participants in all rooms.")
        text.sample(count)
        text.begin(
            "confrelay_participants_without_labels", .gauge, help: "Participants that have no metrics of their own.")
        text.sample(count - participants.count)
        text.begin("confrelay_participant_info", .gauge, help: "Always 1; name and role are in the labels.")
        for entry in participants {
            text.sample(1, entry.labels + [("name", entry.snapshot.name), ("role", entry.snapshot.role)])
        }
        for family in ParticipantFamily.all {
            text.begin("confrelay_\(family.name)", family.kind, help: family.help)
            for entry in participants {
                guard let value = family.value(entry.snapshot) else { continue }
                text.sample(value, entry.labels)
            }
        }
        writeLatency(
            "confrelay_stage_latency_seconds", of: participants, \.latency,
            help: "What the frames that the participant was shown waited for in the relay, by stage, and in all.",
            to: &text)
        writeLatency(
            "confrelay_uplink_stage_latency_seconds", of: participants, \.uplinkLatency,
            help: "What the frames of the participant's camera waited for until they were decoded, by stage.", to: &text
        )
    }

    private func writeLatency(
        _ name: String, of participants: [MetricSubjects.Participant],
        _ stages: KeyPath<ParticipantSnapshot, [StageSnapshot]>,
        help: String, to text: inout PrometheusText
    ) {
        text.begin(name, .histogram, help: help)
        for entry in participants {
            for stage in entry.snapshot[keyPath: stages] {
                text.histogram(
                    bounds: LatencyHistogram.bucketBounds.map { $0 / 1000 }, counts: stage.histogram.counts,
                    sum: stage.histogram.sum.seconds, entry.labels + [("stage", stage.stage)])
            }
        }
    }
}

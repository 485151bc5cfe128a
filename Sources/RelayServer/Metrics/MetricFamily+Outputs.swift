import RoomAPI
import RoomMedia

extension MetricFamily<ServerReport> {
    /// Recordings; absent without `--recordings` and `--record-all`.
    static var recordings: [Self] {
        [
            gauge("recordings", \.recordings?.active, "Recordings that go on."),
            split(
                "recordings_ended_total", .counter, by: "reason",
                "Recordings ended, by `reason`: `stopped`, `room_closed`, `disk_full`, `failed`, `shut_down`."
            ) { report in
                report.recordings.map { recordings in
                    [
                        "stopped": recordings.ended[.stopped] ?? 0, "room_closed": recordings.ended[.roomClosed] ?? 0,
                        "disk_full": recordings.ended[.diskFull] ?? 0, "failed": recordings.ended[.failed] ?? 0,
                        "shut_down": recordings.ended[.shutDown] ?? 0,
                    ]
                }
            },
        ]
    }

    /// The streams of rooms, and their outputs to servers; absent without `--streams` and `--outputs-to`.
    static var outputs: [Self] {
        [
            computed("streams", "Live streams.") { $0.streams.map(Double.init) },
            Self(
                "outputs", .gauge,
                "Outputs by `state`: `connecting`, `live`, `waiting` (after a failure)."
            ) { report in
                guard let states = report.outputs?.states else { return [] }
                return OutputStatus.State.allCases.compactMap { state in
                    states[state].map { Sample(Double($0), [("state", state.rawValue)]) }
                }
            },
            counter("output_sent_bytes", \.outputs?.bytes, "Bytes sent by outputs."),
            counter(
                "output_frames_dropped", \.outputs?.framesDropped,
                "Video frames that slow servers of outputs missed."),
            counter("output_reconnects", \.outputs?.reconnects, "Further connections of outputs."),
        ]
    }
}

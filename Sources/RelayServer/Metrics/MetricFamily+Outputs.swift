import RoomAPI

extension MetricFamily<ServerReport> {
    /// The streams of rooms, and their outputs to servers; absent without `--streams` and `--outputs-to`.
    static var outputs: [Self] {
        [
            computed("streams", "Live streams of rooms.") { $0.streams.map(Double.init) },
            Self(
                "outputs", .gauge,
                "Outputs of rooms to RTMP and SRT servers, by `state`: `connecting`, `live`, `waiting` (after a "
                    + "failure)."
            ) { report in
                guard let states = report.outputs?.states else { return [] }
                return OutputStatus.State.allCases.compactMap { state in
                    states[state].map { Sample(Double($0), [("state", state.rawValue)]) }
                }
            },
            counter("output_sent_bytes", \.outputs?.bytes, "Bytes sent to servers of outputs."),
            counter(
                "output_frames_dropped", \.outputs?.framesDropped,
                "Video frames not sent because a server of an output took too little."),
            counter("output_reconnects", \.outputs?.reconnects, "Connections of outputs after their first."),
        ]
    }
}

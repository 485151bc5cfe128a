import RoomAPI
import RoomMedia

extension MetricFamily<ServerReport> {
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

import RoomAPI

extension MetricFamily<ServerReport> {
    /// Films and streams that are members of rooms; absent without `--player-files` and `--players-from`.
    static var players: [Self] {
        [
            Self(
                "players", .gauge,
                "Players by `state`: `opening`, `playing`, `paused`, `waiting` (after a failure)."
            ) { report in
                guard let states = report.players?.states else { return [] }
                return PlayerStatus.State.allCases.compactMap { state in
                    states[state].map { Sample(Double($0), [("state", state.rawValue)]) }
                }
            },
            counter("players_started", \.players?.started, "Players started."),
            counter("player_frames_shown", \.players?.framesShown, "Players' pictures shown."),
            counter(
                "player_frames_dropped", \.players?.framesDropped,
                "Players' pictures left out: too late."),
        ]
    }
}

import RoomAPI

extension MetricFamily<ServerReport> {
    /// Films and streams that are members of rooms; absent without `--player-files` and `--players-from`.
    static var players: [Self] {
        [
            Self(
                "players", .gauge,
                "Films and streams that are members of rooms, by `state`: `opening`, `playing`, `paused`, `waiting` "
                    + "(after a failure)."
            ) { report in
                guard let states = report.players?.states else { return [] }
                return PlayerStatus.State.allCases.compactMap { state in
                    states[state].map { Sample(Double($0), [("state", state.rawValue)]) }
                }
            },
            counter("players_started", \.players?.started, "Films and streams that became members of rooms."),
            counter("player_frames_shown", \.players?.framesShown, "Pictures of films and streams that were shown."),
            counter(
                "player_frames_dropped", \.players?.framesDropped,
                "Pictures of films and streams that were left out because they came too late."),
        ]
    }
}

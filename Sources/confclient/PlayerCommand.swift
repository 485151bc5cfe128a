import ArgumentParser
import ConferenceClient
import MediaCore
import RoomAPI

struct PlayerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "player", abstract: "Play films and streams to a room, as members of it.",
        discussion: """
            The relay plays them, if it was started with --player-files DIR or --players-from HOST \
            (docs/players.md). Players are named as they are called in the room, or by their ids.

            confclient player start URL talk.mp4 --name Talk --loop   prints the player's id
            confclient player set URL Talk --pause
            confclient player set URL Talk --resume --position 90s
            confclient player end URL Talk
            confclient player list URL                                --json for programs
            """, subcommands: [Start.self, Set.self, End.self, List.self])

    /// The settings with which a film is played.
    struct Settings: ParsableArguments {
        @Option(help: "Seconds of the film in a second, 0.25 to 4; it is silent at another rate than 1.")
        var rate: Double?

        @Option(help: "Factor of its samples, 0 to 4.")
        var volume: Double?

        @Flag(inversion: .prefixedNo, help: "Begin again at the end.")
        var loop: Bool?

        func validate() throws {
            guard rate.map(PlayerSettings.rates.contains) ?? true else {
                throw ValidationError("--rate takes 0.25 to 4")
            }
            guard volume.map(PlayerSettings.volumes.contains) ?? true else {
                throw ValidationError("--volume takes 0 to 4")
            }
        }

        var change: PlayerChange { PlayerChange(rate: rate, volume: volume, loop: loop) }
    }

    struct Start: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Play a film or a stream to a room.")

        @OptionGroup var room: RoomArgument

        @Argument(
            help: ArgumentHelp(
                "A file of the relay's folder, or an http, https, rtsp, rtmp, rtmps or srt URL.", valueName: "film"))
        var film: String

        @Option(help: "Name on its tile. Default: the file's, or the host.")
        var name: String?

        @Flag(help: "Open it, and wait with its first picture.")
        var paused = false

        @Option(help: "Place in the film at which it begins, such as 90s or 1.5min.")
        var position: PositionArgument?

        @OptionGroup var settings: Settings

        func run() async throws {
            var change = settings.change
            change.paused = paused
            let request = PlayerRequest(
                url: film, name: name, settings: PlayerSettings().changed(by: change),
                position: position?.position.seconds)
            try await room.perform { try await Terminal.output($0.startPlayer(request).id) }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Pause, seek, and change how a film is played.")

        @OptionGroup var room: RoomArgument

        @Argument(help: "The player's name, or its id.")
        var player: String

        @Flag(help: "Stand still.")
        var pause = false

        @Flag(help: "Go on.")
        var resume = false

        @Option(help: "Place in the film, such as 90s or 1.5min.")
        var position: PositionArgument?

        @OptionGroup var settings: Settings

        private var change: PlayerChange {
            var change = settings.change
            change.paused = pause ? true : resume ? false : nil
            change.position = position?.position.seconds
            return change
        }

        func validate() throws {
            guard !pause || !resume else { throw ValidationError("give --pause or --resume, not both") }
            guard change != PlayerChange() else {
                throw ValidationError(
                    "nothing to change; give --pause, --resume, --position, --rate, --volume or --loop")
            }
        }

        func run() async throws {
            try await room.perform { try await $0.changePlayer(player, change) }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a player.")

        @OptionGroup var room: RoomArgument

        @Argument(help: "The player's name, or its id.")
        var player: String

        func run() async throws {
            try await room.perform { try await $0.endPlayer(player) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the players of a room: those that go on, then the last ones that have ended.")

        @OptionGroup var room: RoomArgument

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await room.perform { controller in
                let players = try await controller.players()
                guard !json else { return try Terminal.output(json: PlayerList(players)) }
                for player in players {
                    let length = player.duration.map { " of \(Int(clamping: $0.rounded())) s" } ?? ""
                    let reason = player.reason.map { " (\($0.rawValue))" } ?? ""
                    try Terminal.output(
                        "\(player.id)  \(player.name)  \(player.state.rawValue)\(reason)  "
                            + "\(Int(clamping: player.position.rounded())) s\(length)  \(player.url)")
                }
            }
        }
    }
}

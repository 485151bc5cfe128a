import ArgumentParser
import RelayServer

/// What leaves the relay as a stream of a whole room.
struct StreamOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Let rooms be watched as live streams (HLS), in players and on the page /rooms/{room}/stream.",
            discussion: """
                PUT /rooms/{room}/stream begins one. Everybody in the room is told in the picture. A stream costs an \
                encoder. docs/streaming.md describes it.
                """))
    var streams = false

    func apply(to configuration: inout RelayServerConfiguration) {
        configuration.servesStreams = streams
    }
}

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

    @Option(
        help: ArgumentHelp(
            "Let rooms be sent to RTMP and SRT servers on these hosts: names, *.domains, addresses, networks, or *.",
            discussion: """
                POST /rooms/{room}/outputs sends a room to a server. Hosts are separated by commas. A name, and * for \
                every name, stand for public addresses only; addresses of this machine and of private networks must be \
                given as addresses or networks, such as 10.1.0.0/16. docs/streaming.md describes it.
                """, valueName: "HOST,…"),
        transform: OutputRules.init(option:))
    var outputsTo: OutputRules?

    func apply(to configuration: inout RelayServerConfiguration) {
        configuration.servesStreams = streams
        configuration.outputs = outputsTo
    }
}

extension OutputRules {
    /// Parses a list of hosts.
    fileprivate init(option text: String) throws {
        do throws(ParseError) {
            try self.init(parsing: text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}

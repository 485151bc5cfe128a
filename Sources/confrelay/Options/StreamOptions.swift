import ArgumentParser
import Foundation
import RelayServer
import RoomMedia

/// The options of streams: those of whole rooms that leave the relay, and films and streams that come in.
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
        transform: HostRules.init(option:))
    var outputsTo: HostRules?

    @Option(
        help: ArgumentHelp(
            "Let files of this folder become members of rooms, by POST /rooms/{room}/players.",
            discussion: """
                MP4, Matroska, MPEG-TS and other films, with any codec that libavcodec decodes. docs/players.md \
                describes it.
                """, valueName: "DIR"))
    var playerFiles: String?

    @Option(
        help: ArgumentHelp(
            "Let films and streams of these hosts become members of rooms, as --outputs-to takes hosts.",
            discussion: """
                HTTP (films and HLS), RTSP, RTMP and SRT. Playlists and redirections are followed to permitted hosts \
                only.
                """, valueName: "HOST,…"),
        transform: HostRules.init(option:))
    var playersFrom: HostRules?

    @Option(
        help: ArgumentHelp(
            "Take streams by RTMP on this TCP port, from OBS and other encoders: rtmp://relay/ROOM with a key.",
            discussion: """
                The key is a token for the room with --auth-keys, and otherwise the name on the tile. 1935 is usual. \
                docs/players.md describes it.
                """, valueName: "port"),
        transform: UInt16.init(port:))
    var rtmpPort: UInt16?

    @Option(
        help: ArgumentHelp(
            "Take streams by SRT on this UDP port: srt://relay:port?streamid=ROOM/KEY.", valueName: "port"),
        transform: UInt16.init(port:))
    var srtPort: UInt16?

    func validate() throws {
        guard let playerFiles else { return }
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: playerFiles, isDirectory: &isDirectory), isDirectory.boolValue
        else { throw ValidationError("--player-files: there is no folder '\(playerFiles)'") }
    }

    func apply(to configuration: inout RelayServerConfiguration) {
        configuration.servesStreams = streams
        configuration.outputs = outputsTo
        (configuration.rtmpPort, configuration.srtPort) = (rtmpPort, srtPort)
        if playerFiles != nil || playersFrom != nil {
            configuration.players = PlayerRules(folder: playerFiles, hosts: playersFrom)
        }
    }
}

extension HostRules {
    /// Parses a list of hosts.
    fileprivate init(option text: String) throws {
        do throws(ParseError) {
            try self.init(parsing: text)
        } catch {
            throw ValidationError(error.description)
        }
    }
}

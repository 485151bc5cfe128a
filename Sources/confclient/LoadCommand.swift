import ArgumentParser
import ConferenceClient
import Foundation
import MediaCore
import NIOPosix

struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Join a room with many clients at little cost: video is encoded once for all.")

    @OptionGroup var media: MediaOptions

    @Option(help: "Number of clients.")
    var count = 8

    @Option(help: "Number of clients that decode the received video; the others only count packets.")
    var decode = 0

    @Option(help: "Name of the clients; each gets a number after it.")
    var name = "Load"

    @Option(help: "Video bitrate of each client, such as 500k: 60k to 100M.")
    var maxBitrate = BitRateArgument(.kilobits(500), "500k")

    func validate() throws {
        guard (1...500).contains(count) else { throw ValidationError("--count is \(count); use 1 to 500") }
        guard (0...count).contains(decode) else { throw ValidationError("--decode is \(decode); use 0 to \(count)") }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: media.quiet)
        let interruptions = Interruptions()
        try await media.conduct(terminal, interruptions) {
            var client = try media.makeJoinOptions(name: name, maximumBitRate: maxBitrate.bitRate)
            client.onWaiting = {
                terminal.fail("the room has a lobby: waiting until a moderator lets the next client in")
            }
            let options = LoadOptions(client: client, count: count, decodingCount: decode)
            let starting = Task { try await LoadRun.start(options, on: MultiThreadedEventLoopGroup.singleton) }
            interruptions.whenInterrupted { starting.cancel() }
            let load = try await starting.value
            for error in load.joinErrors { terminal.fail(error.description) }
            return load
        }
    }
}

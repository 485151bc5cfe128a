import ArgumentParser
import ConferenceClient
import FlightRecording
import Foundation
import MediaCore
import NIOPosix

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a room, and show how the call is.")

    @OptionGroup var media: MediaOptions

    @Option(help: "The name that others see.")
    var name = "Guest"

    @Option(help: "The most to send, sound included, such as 1.5M or 500k.")
    var maxBitrate = BitRateArgument(.megabits(1.5), "1.5M")

    @Option(
        help: ArgumentHelp(
            "Record what the controller of what is sent is told and decides; confsim record-replay runs it again.",
            valueName: "FILE.flight"))
    var flightRecorder: String?

    @Option(help: "What that file may grow to; the recording ends there.")
    var flightRecorderLimit = FileSizeArgument(FlightRecorder.defaultLimit, "64MB")

    func run() async throws {
        let terminal = Terminal(isQuiet: media.quiet)
        let interruptions = Interruptions()
        do {
            var options = try media.makeJoinOptions(name: name, maximumBitRate: maxBitrate.bitRate)
            options.flightRecorderPath = flightRecorder
            options.flightRecorderLimit = flightRecorderLimit.size
            if let stats = media.stats { try JSONFile.check(stats) }
            let session = try await ClientSession.join(options, on: MultiThreadedEventLoopGroup.singleton.next())
            let status = Task { await terminal.show { try await session.status().line } }
            let end = await Ending.first(
                duration: media.duration?.duration, interruptions: interruptions, end: session.waitForEnd)
            status.cancel()
            _ = await status.value
            let (report, problem) = try await session.leave(end: end.name)
            if let stats = media.stats { try JSONFile.write(report, to: stats) }
            terminal.summarize(report.summary)
            if let error = end.error ?? problem { throw error }
        } catch let error as ClientError {
            terminal.fail(error.description)
            throw ExitCode(error.exitCode)
        }
    }
}

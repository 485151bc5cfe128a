import ArgumentParser
import ConferenceClient
import Foundation

struct PlayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play the H.264 video of a file, and optionally write its pictures.")

    @Argument(help: "MP4, Matroska or another container with H.264, or a raw .h264 stream.")
    var file: String

    @Option(help: "Speed: 2 is twice as fast as recorded.")
    var rate = 1.0

    @Option(help: ArgumentHelp("Time in the file to begin at, such as 10s or 5min.", valueName: "time"))
    var start: PositionArgument?

    @Option(help: ArgumentHelp("Time of the file to play, such as 5s. Default: all.", valueName: "time"))
    var duration: DurationArgument?

    @Flag(help: "Begin again at the end, until --duration is over or Ctrl-C.")
    var loop = false

    @Option(
        help: ArgumentHelp(
            "Output of the pictures: a Y4M file, or numbered PNG files; none only counts them.",
            valueName: "FILE.y4m|FILE%05d.png|none"))
    var output = "none"

    @Flag(help: "Do not wait for the pictures' times: then no picture is late, and all are written.")
    var asFastAsPossible = false

    @Option(help: "Frames per second of a raw H.264 stream. Default: the stream's own, or 30.")
    var frameRate: Double?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only errors, and the JSON if requested.")
    var quiet = false

    func validate() throws {
        guard (0.01...100).contains(rate) else { throw ValidationError("--rate is \(rate); use 0.01 to 100") }
        if let frameRate, !(1...240).contains(frameRate) {
            throw ValidationError("--frame-rate is \(frameRate); use 1 to 240")
        }
        if loop, asFastAsPossible, duration == nil {
            throw ValidationError("--loop with --as-fast-as-possible would never end: give a --duration")
        }
        do {
            _ = try PlayOutput(argument: output)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: quiet)
        let interruptions = Interruptions()
        do {
            let play = try PlayRun(try makeOptions())
            interruptions.whenInterrupted { play.stop() }
            let status = Task { await terminal.show { play.status.line } }
            let (report, problem) = await play.play()
            status.cancel()
            _ = await status.value
            if json { try Terminal.output(JSONFile.text(of: report)) } else { try terminal.summarize(report.summary) }
            if let problem { throw problem }
        } catch let error as ClientError {
            terminal.fail(error.description)
            throw ExitCode(error.exitCode)
        }
    }

    private func makeOptions() throws(ClientError) -> PlayOptions {
        var options = PlayOptions(path: file)
        options.rate = rate
        options.start = start?.position ?? .zero
        options.duration = duration?.duration
        options.loops = loop
        options.isAsFastAsPossible = asFastAsPossible
        options.frameRate = frameRate
        options.output = try PlayOutput(argument: output)
        return options
    }
}

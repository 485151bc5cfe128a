import ArgumentParser
import ConferenceClient
import FlightRecording
import Foundation
import MediaCore
import NIOPosix

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a room, send and receive media, and measure the call.")

    @OptionGroup var media: MediaOptions

    @Option(help: "Name that others see.")
    var name = "Guest"

    @Option(help: "Maximum bitrate to send, with audio, such as 1.5M or 500k: 60k to 100M.")
    var maxBitrate = BitRateArgument(.megabits(1.5), "1.5M")

    @Option(
        help: ArgumentHelp(
            "Record the rate controller's inputs and decisions; confsim record-replay runs it again.",
            valueName: "FILE.flight"))
    var flightRecorder: String?

    @Option(help: "Maximum size of that file, such as 500kB: at least 10kB. The recording ends there.")
    var flightRecorderLimit = FileSizeArgument(FlightRecorder.defaultLimit, "64MB")

    @Option(
        help: ArgumentHelp(
            """
            Number of further attempts if the relay has no seat now. It states the waiting time; more than a minute is \
            an error.
            """,
            valueName: "n"))
    var retries = 3

    func validate() throws {
        guard (0...1000).contains(retries) else { throw ValidationError("--retries is \(retries); use 0 to 1000") }
    }

    func run() async throws {
        let terminal = Terminal(isQuiet: media.quiet)
        let interruptions = Interruptions()
        func makeOptions(ofSession number: Int) throws -> JoinOptions {
            var options = try media.makeJoinOptions(name: name, maximumBitRate: maxBitrate.bitRate)
            options.hearsModerators = true
            options.flightRecorderPath = flightRecorder
            options.flightRecorderLimit = flightRecorderLimit.size
            return options.numbered(number)
        }
        try await media.conduct(
            terminal, interruptions,
            resume: { (call: ClientSession, end, lost, number) in
                guard !call.rejoinURLs.isEmpty else { return nil }
                switch end {
                case .ended(.relayLeft(let reason)):
                    terminal.fail("\(reason); joining again at another relay of the cluster")
                case .moved: terminal.fail("the relay at \(call.url) is about to end; joining at another one")
                case .ended, .duration, .interrupted: return nil
                }
                let next = try await attempt(makeOptions(ofSession: number), terminal, interruptions) { options in
                    try await call.joinElsewhere(options, since: lost)
                }
                let time = (ContinuousClock.now - lost).formatted(
                    .units(allowed: [.seconds, .milliseconds], width: .narrow))
                terminal.fail("joined again at \(next.url) after \(time)")
                if case .moved = end { await next.waitForMedia() }
                return next.moderatorKey == call.moderatorKey ? next : tell(next, terminal)
            },
            { tell(try await join(makeOptions(ofSession: 1), terminal, interruptions), terminal) })
    }

    /// Tells the moderator's key of a room that the session began.
    private func tell(_ session: ClientSession, _ terminal: Terminal) -> ClientSession {
        if let key = session.moderatorKey {
            // The call goes on without; its summary will fail in the same way.
            try? terminal.summarize(["you began the room; its moderator's key: \(key)"], besides: media.stats)
        }
        return session
    }

    /// The longest time for which a seat is waited for at once.
    private static let longestWait = Duration.seconds(60)

    /// Joins. If the relay has no seat, it tries again after the time that the relay states.
    private func join(
        _ options: JoinOptions, _ terminal: Terminal, _ interruptions: Interruptions
    ) async throws -> ClientSession {
        var attempts = 0
        while true {
            do {
                return try await attempt(options, terminal, interruptions) { options in
                    try await ClientSession.join(options, on: MultiThreadedEventLoopGroup.singleton.next())
                }
            } catch let error as ClientError {
                guard attempts < retries, let time = error.retryAfter, time <= Self.longestWait else { throw error }
                attempts += 1
                // The waits differ slightly, so that the clients do not all come at the same time.
                let wait = max(time, .seconds(1)) * Double.random(in: 1...1.2)
                terminal.fail(
                    "\(error); asking again in \(Int(wait.seconds.rounded())) s (\(attempts) of \(retries))")
                try await Task.sleep(for: wait)
            }
        }
    }

    /// Joins once. An interruption in the lobby gives the place up, and one before ends the program.
    private func attempt(
        _ options: JoinOptions, _ terminal: Terminal, _ interruptions: Interruptions,
        _ join: @escaping @Sendable (JoinOptions) async throws -> ClientSession
    ) async throws -> ClientSession {
        let (lobbies, continuation) = AsyncStream.makeStream(of: Void.self)
        var options = options
        options.onWaiting = { continuation.yield() }
        let joining = Task { [options] in
            defer { continuation.finish() }
            return try await join(options)
        }
        for await _ in lobbies {
            terminal.fail("the room has a lobby: waiting until a moderator lets us in")
            interruptions.whenInterrupted { joining.cancel() }
        }
        do {
            return try await joining.value
        } catch {
            throw joining.isCancelled ? CancellationError() : error
        }
    }
}

import ArgumentParser
import ConferenceClient

/// A call that `join` or `load` runs: one session, or many.
protocol RunningCall: Sendable {
    associatedtype Report: Encodable & Summarized & Sendable

    /// Its state in a line, for people.
    func statusLine() async throws -> String
    /// Waits until it ends by itself.
    func waitForEnd() async -> ClientSession.End
    /// Waits until the relay asks to be left; false: it does not.
    func waitForMove() async -> Bool
    /// Leaves in order. Returns the results, and the failure if there was one.
    func leave(end: String) async throws -> (report: Report, error: ClientError?)
}

/// A result with lines for people.
protocol Summarized {
    var summary: [String] { get }
}

extension ClientReport: Summarized {}
extension LoadReport: Summarized {}

extension ClientSession: RunningCall {
    func statusLine() async throws -> String { try await status().line }
}

extension LoadRun: RunningCall {
    func statusLine() async throws -> String { try await status().line }
    /// Its clients go one by one, by themselves.
    func waitForMove() async -> Bool { false }
}

extension MediaOptions {
    /// Starts a call, shows its state until it ends, then leaves and reports.
    ///
    /// - Parameter resume: Returns the call that goes on where the relay ended one, or asks to be left; nil if none
    ///   does. It is given that call, its end, the time of this end, and the number of the next session.
    ///   It and `start` throw `CancellationError` where an interruption ended the joining.
    func conduct<Call: RunningCall>(
        _ terminal: Terminal, _ interruptions: Interruptions,
        resume: (Call, Ending, ContinuousClock.Instant, Int) async throws -> Call? = { _, _, _, _ in nil },
        _ start: () async throws -> Call
    ) async throws {
        do {
            if case .file(let path)? = stats { try JSONFile.check(path) }
            var call = try await start()
            let begun = ContinuousClock.now
            var mayMove = true
            var number = 1
            var failure: ClientError?
            while true {
                let current = call
                let status = Task { await terminal.show { try await current.statusLine() } }
                let end = await Ending.first(
                    duration: duration.map { max($0.duration - (ContinuousClock.now - begun), .zero) },
                    interruptions: interruptions, move: mayMove ? current.waitForMove : nil, end: current.waitForEnd)
                let time = ContinuousClock.now
                status.cancel()
                _ = await status.value
                var next: Call?
                if case .moved = end {
                    // Nobody misses anything: this call goes on until the next one has begun.
                    do {
                        next = try await resume(current, end, time, number + 1)
                    } catch {
                        terminal.fail("no other relay takes the call, which goes on here: \(error)")
                    }
                    guard next != nil else {
                        mayMove = false
                        continue
                    }
                }
                let (report, problem) = try await current.leave(end: end.name)
                switch stats {
                case .file(let path): try JSONFile.write(report, to: JoinOptions.path(path, ofSession: number))
                case .standardOutput: try Terminal.output(json: report)
                case nil: break
                }
                do throws(ClientError) {
                    try terminal.summarize(report.summary, besides: stats)
                } catch {
                    failure = failure ?? error
                }
                if next == nil, case .ended = end { next = try await resume(current, end, time, number + 1) }
                if let next {
                    // Media that did not arrive may come from the next relay; a file that was not written is lost.
                    if case .outputNotWritable? = problem { failure = failure ?? problem }
                    (call, mayMove) = (next, true)
                    number += 1
                    continue
                }
                if let error = failure ?? end.error ?? problem { throw error }
                return
            }
        } catch let error as ClientError {
            terminal.fail(error.description)
            throw ExitCode(error.exitCode)
        } catch is CancellationError {
            throw interruptions.exit
        }
    }
}

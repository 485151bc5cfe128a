import ArgumentParser
import ConferenceClient

/// A call that `join` or `load` runs: one session, or many.
protocol RunningCall: Sendable {
    associatedtype Report: Encodable & Summarized & Sendable

    /// Its state in a line, for people.
    func statusLine() async throws -> String
    /// Waits until it ends by itself.
    func waitForEnd() async -> ClientSession.End
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
}

extension MediaOptions {
    /// Starts a call, shows its state until it ends, then leaves and reports.
    func conduct<Call: RunningCall>(_ terminal: Terminal, _ start: () async throws -> Call) async throws {
        let interruptions = Interruptions()
        do {
            if let stats { try JSONFile.check(stats) }
            let call = try await start()
            let status = Task { await terminal.show { try await call.statusLine() } }
            let end = await Ending.first(
                duration: duration?.duration, interruptions: interruptions, end: call.waitForEnd)
            status.cancel()
            _ = await status.value
            let (report, problem) = try await call.leave(end: end.name)
            if let stats { try JSONFile.write(report, to: stats) }
            terminal.summarize(report.summary)
            if let error = end.error ?? problem { throw error }
        } catch let error as ClientError {
            terminal.fail(error.description)
            throw ExitCode(error.exitCode)
        }
    }
}

import ArgumentParser
import ConferenceClient
import Foundation

/// How a benchmark that runs the programs tells its results.
enum BenchmarkOutput {
    /// Measures, prints the table for people, and writes the report as JSON where that is wanted. That the file can be
    /// written is found out before anything is measured.
    ///
    /// - Throws: An exit code, once the failure has been said.
    static func write<Report: Encodable>(
        json: String?, measuring measure: () async throws -> Report, table: (Report) -> String
    ) async throws {
        do {
            if let json { try JSONFile.check(json) }
            let report = try await measure()
            FileHandle.standardOutput.write(Data((table(report) + "\n").utf8))
            if let json { try JSONFile.write(report, to: json) }
        } catch let error as BenchmarkError {
            Progress.say("\(error)")
            throw ExitCode(70)
        } catch let error as ClientError {
            Progress.say(error.description)
            throw ExitCode(error.exitCode)
        }
    }
}

import ArgumentParser
import ConferenceClient
import Foundation

/// Prints and writes the results of benchmarks that run the programs.
enum BenchmarkOutput {
    /// Measures, prints the table for people, and writes the report as JSON if that is wanted. Before measuring, it
    /// checks that the file can be written.
    ///
    /// - Throws: An exit code, after the failure has been printed.
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

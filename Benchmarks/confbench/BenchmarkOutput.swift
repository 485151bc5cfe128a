import ArgumentParser
import ConferenceClient
import Foundation
import MediaFiles

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
            try write(report, json: json, table: table(report))
        } catch let error as BenchmarkError {
            Progress.say("\(error)")
            throw ExitCode(70)
        } catch let error as ClientError {
            Progress.say(error.description)
            throw ExitCode(error.exitCode)
        }
    }

    /// Writes a report. The JSON is first: where the table finds no room, the measurement is not lost.
    static func write(_ report: some Encodable, json: String?, table: String) throws(ClientError) {
        if let json { try JSONFile.write(report, to: json) }
        do {
            try OutputFile.writeToStandardOutput(Data((table + "\n").utf8))
        } catch {
            throw ClientError(error)
        }
    }
}

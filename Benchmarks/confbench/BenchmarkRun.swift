import ArgumentParser
import ConferenceClient

/// Runs measurements and turns their failures into exit codes.
enum BenchmarkRun {
    /// Measures, prints the table for people, and writes the report as JSON if that is wanted. Before measuring, it
    /// checks that the file can be written. Failures are printed on standard error and become the exit code.
    static func write<Report: Encodable>(
        json: String?, measuring measure: () throws -> Report, table: (Report) -> String
    ) throws {
        do {
            if let json { try JSONFile.check(json) }
            let report = try measure()
            try BenchmarkOutput.write(report, json: json, table: table(report))
        } catch let error as ClientError {
            Progress.say(error.description)
            throw ExitCode(error.exitCode)
        } catch let error as ValidationError {
            throw error
        } catch {
            Progress.say("\(error)")
            throw ExitCode(70)
        }
    }
}
